import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexText, type Transaction } from '@chainstead/db';
import type { TraitsWork } from './schema.ts';

/** A collection whose traits are worked on. */
export interface TraitsAtWork {
  readonly contract: Address;
  readonly work: TraitsWork;
  /** The id up to which its work is done, decimal digits; -1: none. */
  readonly after: string;
  /** Documents read before this are read again; null: none is. */
  readonly readAfter: Date | null;
}

/** Those that are worked on, the one that waits longest first. */
export async function listTraitsAtWork(
  database: Database,
  chain: Chain,
  limit: number,
): Promise<readonly Pick<TraitsAtWork, 'contract' | 'work'>[]> {
  return database.query(
    `SELECT ${hexText('token_address')} AS contract, work FROM nft_collection_traits
      WHERE chain_id = $1 AND work IS NOT NULL ORDER BY advanced_at NULLS FIRST LIMIT $2`,
    [chain.id, limit],
  );
}

/** Where the work goes on. */
export interface TraitsStep {
  readonly work: TraitsWork;
  /** As in {@link TraitsAtWork}; null: from the first id. */
  readonly after: string | null;
}

/**
 * Takes a piece of a collection's work that nobody else is at, in one transaction.
 * @param take null: nothing has changed
 */
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
    const key = [addressBytes(contract), chain.id];
    const [row] = await transaction.query<{ work: TraitsWork; after: string | null; read_after: Date | null }>(
      `SELECT work, work_after::text AS after, read_after FROM nft_collection_traits
        WHERE token_address = $1 AND chain_id = $2 AND work IS NOT NULL FOR UPDATE SKIP LOCKED`,
      key,
    );
    if (row === undefined) return null;
    const { step, outcome } = await take(transaction, {
      contract,
      work: row.work,
      after: row.after ?? NO_ID,
      readAfter: row.read_after,
    });
    // What nothing was done for keeps its place before others.
    if (step !== null)
      await transaction.query(
        'UPDATE nft_collection_traits SET work = $3, work_after = $4, advanced_at = now() WHERE token_address = $1 AND chain_id = $2',
        [...key, step.work, step.after],
      );
    return outcome;
  });
}

/** Below every id. */
const NO_ID = '-1';
