import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, rawSql, sql, type Transaction } from '@chainstead/db';

/**
 * In order: `history` (transfers are read), `queue` (documents are requested), `settle` (they are
 * read), `compute`. `improve` waits for retries of failed ones, before another `compute`.
 */
export type TraitsWork = 'history' | 'queue' | 'settle' | 'compute' | 'improve';

export interface TraitsAtWork {
  readonly contract: Address;
  readonly work: TraitsWork;
  /** The id up to which work is done, decimal digits; -1: none. */
  readonly after: string;
  /** Documents read before this are read again; null: none is. */
  readonly readAfter: Date | null;
}

export interface TraitsStep {
  readonly work: TraitsWork;
  /** Null: from the first id. */
  readonly after: string | null;
}

/** In one transaction, if no other worker holds it. @param take step null: nothing has changed */
export async function advanceTraits<Outcome>(
  database: Database,
  chain: Chain,
  contract: Address,
  take: (
    transaction: Transaction,
    at: TraitsAtWork,
  ) => Promise<{ readonly step: TraitsStep | null; readonly outcome: Outcome }>,
): Promise<Outcome | null> {
  return database.transaction(async (transaction) => {
    const isOf = sql`token_address = ${addressBytes(contract)} AND chain_id = ${chain.id}`;
    const [row] = await transaction.query<{ work: TraitsWork; after: string | null; readAfter: Date | null }>(
      sql`SELECT work, work_after::text AS after, read_after FROM nft_collection_traits
        WHERE ${isOf} AND work IS NOT NULL FOR UPDATE SKIP LOCKED`,
    );
    if (row === undefined) return null;
    const { step, outcome } = await take(transaction, {
      contract,
      work: row.work,
      after: row.after ?? '-1',
      readAfter: row.readAfter,
    });
    if (step !== null)
      await transaction.query(
        sql`UPDATE nft_collection_traits SET work = ${step.work}, work_after = ${step.after} WHERE ${isOf}`,
      );
    return outcome;
  });
}

export interface TraitsStatus {
  readonly chainId: number;
  readonly computed: number;
  readonly tooLarge: number;
  readonly atWork: Readonly<Record<TraitsWork, number>>;
}

export async function readTraitsStatuses(database: Database): Promise<TraitsStatus[]> {
  const rows = await database.query<Omit<TraitsStatus, 'atWork'> & TraitsStatus['atWork']>(
    sql`SELECT chain_id, count(*) FILTER (WHERE generation IS NOT NULL AND NOT is_too_large)::int AS computed,
       count(*) FILTER (WHERE is_too_large)::int AS "tooLarge", ${rawSql(STEPS.map((work) => `count(*) FILTER (WHERE work = '${work}')::int AS ${work}`).join(', '))}
     FROM nft_collection_traits GROUP BY chain_id ORDER BY chain_id`,
  );
  return rows.map(({ chainId, computed, tooLarge, history, queue, settle, compute, improve }) => ({
    chainId,
    computed,
    tooLarge,
    atWork: { history, queue, settle, compute, improve },
  }));
}

const STEPS: readonly TraitsWork[] = ['history', 'queue', 'settle', 'compute', 'improve'];
