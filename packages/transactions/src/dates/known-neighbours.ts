import { fromDateBound } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import { hexText, type ReadDatabase } from '@chainstead/db';
import { committedBlock } from '@chainstead/state';
import type { Neighbours, TimedBlock } from './closest-block.ts';

/** The newest indexed block is the chain's newest as long as it is no older than this. Milliseconds. */
const FOLLOWED_MS_MAX = 120_000;

/** The indexed blocks around a time: the last earlier one, and the first other one. There may be others between them. */
export async function knownAround(
  database: ReadDatabase,
  chain: Pick<Chain, 'id'>,
  time: number,
): Promise<readonly TimedBlock[]> {
  return database.select<TimedBlock>(STATEMENT, [chain.id, time]);
}

/**
 * The neighbours of a time where indexed blocks tell them; null where only a node does. What lies ahead of now is behind the newest indexed block
 * of a chain that is followed.
 */
export async function knownNeighbours(
  { database, clock }: { readonly database: ReadDatabase; readonly clock: Clock },
  chain: Pick<Chain, 'id' | 'firstBlock'>,
  time: number,
): Promise<Neighbours | null> {
  const around = await knownAround(database, chain, time);
  const below = around.find(({ timestamp }) => timestamp < time) ?? null;
  const from = around.find(({ timestamp }) => timestamp >= time) ?? null;
  if (from === null) {
    const nowMs = clock.now();
    if (time < Math.floor(nowMs / 1_000) || below === null) return null;
    const newest = await committedBlock(database, chain);
    const isFollowed = newest?.number === below.number && nowMs - below.timestamp * 1_000 < FOLLOWED_MS_MAX;
    return isFollowed ? { below, from: null } : null;
  }
  if (below === null) return from.number === chain.firstBlock ? { below, from } : null;
  if (from.number !== below.number + 1) return null;
  return { below, from };
}

// Of a block that was learnt from logs alone, the one below may tell.
const PARENT = `coalesce(parent_hash, (SELECT parent.block_hash FROM blocks AS parent
  WHERE parent.chain_id = blocks.chain_id AND parent.block_number = blocks.block_number - 1))`;
const COLUMNS = `block_number AS number, ${hexText('block_hash')} AS hash, ${hexText(PARENT)} AS "parentHash",
  extract(epoch FROM block_timestamp)::bigint AS timestamp`;

const STATEMENT = `WITH ${fromDateBound('$1::bigint', 'to_timestamp($2::float8)')}
SELECT ${COLUMNS} FROM blocks WHERE chain_id = $1::bigint AND block_number = (SELECT block - 1 FROM from_date)
UNION ALL
(SELECT ${COLUMNS} FROM blocks WHERE chain_id = $1::bigint AND block_number >= (SELECT block FROM from_date) ORDER BY block_number LIMIT 1)`;
