import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { type Database, hexText, type ReadDatabase, sql } from '@chainstead/db';

/** A block whose state is requested. */
export interface StateBlock {
  readonly number: number;
  readonly hash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
}

/**
 * The newest committed block: the follower's checkpoint, or where a chain is only backfilled the newest block that is known of what is covered.
 * Null where nothing is indexed.
 */
export async function committedBlock(database: ReadDatabase, chain: Pick<Chain, 'id'>): Promise<StateBlock | null> {
  const [block] = await database.select<StateBlock>(
    sql`SELECT ${COLUMNS} FROM blocks
     WHERE chain_id = ${chain.id} AND block_number <= coalesce(
       (SELECT checkpoint FROM sync_chains WHERE chain_id = ${chain.id}), (SELECT max(last_block) FROM sync_ranges WHERE chain_id = ${chain.id}))
     ORDER BY block_number DESC LIMIT 1`,
  );
  return block ?? null;
}

/** A committed block by its number; null where it is not known: backfilled blocks are only where they caused a row. */
export async function knownBlock(
  database: Database,
  chain: Pick<Chain, 'id'>,
  number: number,
): Promise<StateBlock | null> {
  const [block] = await database.query<StateBlock>(
    sql`SELECT ${COLUMNS} FROM blocks WHERE chain_id = ${chain.id} AND block_number = ${number}`,
  );
  return block ?? null;
}

/** The newest known block at or below each of these numbers, by that number; where none is known so far down, there is none. */
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
