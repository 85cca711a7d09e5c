import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { type Database, hexText, type ReadDatabase, sql } from '@chainstead/db';

export interface StateBlock {
  readonly number: number;
  readonly hash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
}

/** The checkpoint; without a follower, the newest known block. Null: nothing is indexed. */
export async function committedBlock(
  database: ReadDatabase,
  chain: Pick<Chain, 'id'>,
): Promise<StateBlock | null> {
  const [block = null] = await database.select<StateBlock>(
    sql`SELECT ${COLUMNS} FROM blocks
     WHERE chain_id = ${chain.id} AND block_number <= coalesce(
       (SELECT checkpoint FROM sync_chains WHERE chain_id = ${chain.id}), (SELECT max(last_block) FROM sync_ranges WHERE chain_id = ${chain.id}))
     ORDER BY block_number DESC LIMIT 1`,
  );
  return block;
}

/** Null if not stored: a backfilled block is stored only if it caused a row. */
export async function knownBlock(
  database: Database,
  chain: Pick<Chain, 'id'>,
  number: number,
): Promise<StateBlock | null> {
  const [block = null] = await database.query<StateBlock>(
    sql`SELECT ${COLUMNS} FROM blocks WHERE chain_id = ${chain.id} AND block_number = ${number}`,
  );
  return block;
}

export async function newestKnownBlocks(
  database: Database,
  chain: Pick<Chain, 'id'>,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, StateBlock>> {
  const rows = await database.query<StateBlock & { requested: number }>(
    sql`SELECT given.requested, newest.* FROM unnest(${[...new Set(numbers)]}::bigint[]) AS given(requested)
     CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM blocks WHERE chain_id = ${chain.id} AND block_number <= given.requested
       ORDER BY block_number DESC LIMIT 1) AS newest`,
  );
  return new Map(rows.map(({ requested, number, hash, timestamp }) => [requested, { number, hash, timestamp }]));
}

const COLUMNS = sql`block_number AS number, ${hexText('block_hash')} AS hash, extract(epoch FROM block_timestamp)::bigint AS timestamp`;
