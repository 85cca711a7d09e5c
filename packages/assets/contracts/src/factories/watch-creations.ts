import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange } from '@chainstead/core';
import { rawSql, sql, type Transaction } from '@chainstead/db';
import type { PrecedingRows } from '@chainstead/sync/datasets';
import { removeCoverage } from '@chainstead/sync/requests';
import type { ChildSet } from '../definitions/child-sets.ts';

export interface DependentTables {
  readonly children: ChildSet;
  readonly only: readonly Address[] | null;
  readonly tables: readonly string[];
  /** Another row moves stored rows to another table, also those in uncovered blocks. */
  readonly isMoving: boolean;
}

type Dependents = ReadonlyMap<number, DependentTables>;

/** Changes below covered blocks remove dependent rows and coverage, to be read again. */
export function watchCreations(dependents: Dependents): PrecedingRows {
  return {
    async watch(transaction, chain, range) {
      const own = dependents.get(chain.id);
      if (own === undefined) return async () => undefined;
      const before = await readCreated(transaction, chain, own, range);
      return async () => {
        const change = firstChange(before, await readCreated(transaction, chain, own, range));
        if (change !== null) await removeDependents(transaction, chain, own, change);
      };
    },
  };
}

interface Created {
  readonly blockNumber: number;
  readonly text: string;
}

async function readCreated(
  transaction: Transaction,
  chain: Chain,
  { children: { table, column }, only }: DependentTables,
  { from, to }: BlockRange,
): Promise<readonly Created[]> {
  return transaction.query<Created>(
    sql`SELECT block_number, concat_ws(' ', log_index, encode(contract, 'hex'), encode(${rawSql(column)}, 'hex')) AS text FROM ${rawSql(table)}
      WHERE chain_id = ${chain.id} AND block_number BETWEEN ${from} AND ${to} AND ${rawSql(column)} IS NOT NULL
        AND (${only}::text[] IS NULL OR '0x' || encode(${rawSql(column)}, 'hex') = ANY (${only})) ORDER BY block_number, log_index`,
  );
}

interface Change {
  readonly block: number;
  readonly isRemoval: boolean;
}

function firstChange(before: readonly Created[], after: readonly Created[]): Change | null {
  const keyOf = ({ blockNumber: block, text }: Created): string => `${block} ${text}`;
  const [known, found] = [new Set(before.map(keyOf)), new Set(after.map(keyOf))];
  const removed = before.filter((one) => !found.has(keyOf(one)));
  const changed = [...removed, ...after.filter((one) => !known.has(keyOf(one)))];
  if (changed.length === 0) return null;
  const block = changed.reduce((first, one) => Math.min(first, one.blockNumber), Number.MAX_SAFE_INTEGER);
  return { block, isRemoval: removed.length > 0 };
}

async function removeDependents(
  transaction: Transaction,
  chain: Chain,
  { tables, isMoving }: DependentTables,
  { block, isRemoval }: Change,
): Promise<void> {
  if (tables.length === 0) return;
  const covered = await transaction.query(
    sql`SELECT FROM sync_ranges WHERE chain_id = ${chain.id} AND dataset = ANY (${tables}::text[]) AND last_block >= ${block} LIMIT 1`,
  );
  if (covered.length === 0 && !isRemoval && !(isMoving && (await haveRows(transaction, chain, tables, block))))
    return;
  for (const table of tables)
    await transaction.query(
      sql`DELETE FROM ${rawSql(table)} WHERE chain_id = ${chain.id} AND block_number >= ${block}`,
    );
  await removeCoverage(transaction, chain.id, tables, { from: block, to: Number.MAX_SAFE_INTEGER });
  await transaction.query(
    sql`UPDATE contract_definitions SET revision = gen_random_uuid() WHERE chain_id = ${chain.id} AND (factory IS NOT NULL OR upgrades IS NOT NULL)`,
  );
}

async function haveRows(
  transaction: Transaction,
  { id }: Chain,
  tables: readonly string[],
  block: number,
): Promise<boolean> {
  for (const table of tables) {
    const found = await transaction.query(
      sql`SELECT FROM ${rawSql(table)} WHERE chain_id = ${id} AND block_number >= ${block} LIMIT 1`,
    );
    if (found.length > 0) return true;
  }
  return false;
}
