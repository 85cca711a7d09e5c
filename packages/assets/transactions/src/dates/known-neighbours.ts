import type { Chain } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import { hexText, type ReadDatabase, sql } from '@chainstead/db';
import { committedBlock } from '@chainstead/node-reads/requests';
import { fromDateBound } from '@chainstead/pages';
import type { Neighbours, TimedBlock } from './closest-block.ts';

/** Milliseconds for which the newest indexed block counts as the chain's newest. */
const FOLLOWED_MS_MAX = 120_000;

export async function knownAround(database: ReadDatabase, chain: Pick<Chain, 'id'>, time: number) {
  const chainId = sql`${chain.id}::bigint`;
  return database.select<TimedBlock>(
    sql`WITH ${fromDateBound(chainId, sql`to_timestamp(${time}::float8)`)}
SELECT ${COLUMNS} FROM blocks WHERE chain_id = ${chainId} AND block_number = (SELECT block - 1 FROM from_date)
UNION ALL
(SELECT ${COLUMNS} FROM blocks WHERE chain_id = ${chainId} AND block_number >= (SELECT block FROM from_date) ORDER BY block_number LIMIT 1)`,
  );
}

/** Null: only a node has them. A future time follows the newest block of a followed chain. */
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

// A block made from its logs lacks the parent hash: the parent's row may have it.
const PARENT = sql`coalesce(parent_hash, (SELECT parent.block_hash FROM blocks AS parent
  WHERE parent.chain_id = blocks.chain_id AND parent.block_number = blocks.block_number - 1))`;
const COLUMNS = sql`block_number AS number, ${hexText('block_hash')} AS hash, ${hexText(PARENT)} AS "parentHash",
  extract(epoch FROM block_timestamp)::bigint AS timestamp`;
