import type { Chain } from '@chainstead/chains';
import type { Clock, Hash } from '@chainstead/core';
import { hexText, type ReadDatabase, sql } from '@chainstead/db';
import { committedBlock } from '@chainstead/node-reads/requests';
import { fromDateBound } from '@chainstead/pages';
import { ReorgedWhileReadingError } from '@chainstead/sync';

interface TimeSearch {
  readonly chain: string;
  readonly first: TimedBlock;
  readonly head: TimedBlock;
  readonly known?: readonly TimedBlock[];
  read(numbers: readonly number[]): Promise<readonly TimedBlock[]>;
}

const GUESS_PART = 64;

/** Interpolates: three reads leave a thirtieth of the range. @throws ReorgedWhileReadingError */
export async function searchTimes(
  time: number,
  { chain, first, head, known = [], read }: TimeSearch,
): Promise<Neighbours> {
  if (first.timestamp >= time) return { below: null, from: first };
  if (head.timestamp < time) return { below: head, from: null };
  let below = first;
  let from = head;
  const narrow = (blocks: readonly TimedBlock[]): void => {
    for (const block of blocks)
      if (block.timestamp < time && block.number > below.number) below = block;
      else if (block.timestamp >= time && block.number < from.number) from = block;
  };
  narrow(known);
  // On some chains the first block is older than the chain: its time is no measure.
  if (below === first && from.number - first.number > 1) narrow(await read([first.number + 1]));
  for (let halves = false; from.number - below.number > 1; ) {
    const width = from.number - below.number;
    narrow(await read(guesses(time, below, from, halves)));
    halves = from.number - below.number > width / 2;
  }
  if (from.parentHash !== null && from.parentHash !== below.hash)
    throw new ReorgedWhileReadingError({
      chain,
      what: `block ${from.number} does not follow the one found before it`,
    });
  return { below, from };
}

function guesses(time: number, below: TimedBlock, from: TimedBlock, halves: boolean): number[] {
  const width = from.number - below.number;
  const share = (time - below.timestamp) / (from.timestamp - below.timestamp);
  const guess = below.number + Math.round(width * share);
  const step = Math.max(1, Math.ceil(width / GUESS_PART));
  const numbers = [guess - step, guess, guess + step, ...(halves ? [below.number + Math.floor(width / 2)] : [])];
  const within = numbers.map((number) => Math.min(Math.max(number, below.number + 1), from.number - 1));
  return [...new Set(within)];
}

export interface TimedBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash | null;
  /** Unix seconds. */
  readonly timestamp: number;
}

export interface Neighbours {
  readonly below: TimedBlock | null;
  /** First block that is not earlier, right after `below`; null: the head is earlier. */
  readonly from: TimedBlock | null;
}

export const CLOSEST = ['nearest', 'before', 'after'] as const;
export type Closest = (typeof CLOSEST)[number];

/** `before`: at or before; `after`: at or after; `nearest`: the earlier on a tie. Null: unknown. */
export async function closestBlock(
  time: number,
  closest: Closest,
  neighbours: (time: number) => Promise<Neighbours | null>,
): Promise<TimedBlock | null> {
  const around = await neighbours(time);
  if (around === null) return null;
  const { below, from } = around;
  if (from === null) return below;
  if (closest === 'after') return from;
  if (from.timestamp === time) {
    if (closest === 'nearest') return from;
    const next = await neighbours(time + 1);
    return next === null ? null : next.below;
  }
  if (below === null) return from;
  if (closest === 'before') return below;
  if (from.timestamp - time < time - below.timestamp) return from;
  return (await neighbours(below.timestamp))?.from ?? null;
}

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
