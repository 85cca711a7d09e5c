import { randomInt } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import { type Address, areWithin, ChainsteadError, type Fraction, toQuantity } from '@chainstead/core';
import { hexBytes, joinSql, rawSql, sql } from '@chainstead/db';
import { type StateReadingContext, stateAt } from '@chainstead/node-reads';
import { knownBlock, type StateBlock } from '@chainstead/node-reads/requests';
import { parseHeader } from '@chainstead/rpc';
import { poolKey } from '../pools/pool-creation.ts';
import { priceOf } from '../pools/pool-price.ts';
import { type FoundPool, type PoolReading, readPoolStates } from './find-pools.ts';

export interface StandingReading extends PoolReading {
  readonly block: number;
  /** Unix seconds of the earliest block with about this price and at least half of the depth. */
  readonly stoodSince: number;
}

export const RESULT_BYTES_MAX = 512;
const SAMPLES = 8;
const PROBE_BLOCKS = 64;
/** Half of the depth at that time shows that it is no deposit of a moment. */
const DEPTH_FACTOR = 2n;

/** States before the first indexed event. Earlier samples expose a push before `runStart`. */
export async function readStandingStates(
  pools: readonly FoundPool[],
  context: StateReadingContext,
  { block, runStart }: { readonly block: StateBlock; readonly runStart: number },
  signal: AbortSignal,
): Promise<readonly StandingReading[]> {
  if (pools.length === 0) return [];
  const { chain } = context;
  const firstEvents = await readFirstEvents(context, pools, { first: runStart, last: block.number });
  const baseOf = ({ pool }: FoundPool): number | null => {
    const event = firstEvents.get(pool);
    if (event === undefined) return block.number;
    return block.timestamp - event.time < chain.pricing.windowSeconds ? event.block - 1 : null;
  };
  const states = (some: readonly FoundPool[], at: StateBlock) =>
    readPoolStates(
      some,
      { state: stateAt(context.pool, chain, at, { answerBytesMax: RESULT_BYTES_MAX }) },
      signal,
    );
  const read: { readonly base: StateBlock; readonly reading: PoolReading }[] = [];
  for (const [number, some] of Map.groupBy(pools, baseOf)) {
    if (number === null || number < 0) continue;
    const base = number === block.number ? block : await orNull(blockAt(context, number, signal), signal);
    if (base === null) continue;
    const readings = await (base === block ? states(some, base) : orNull(states(some, base), signal));
    for (const reading of readings ?? []) read.push({ base, reading });
  }
  // Without an event, the state has stood since the first indexed block.
  const start = read.length === 0 ? null : await startOf(context, { block, runStart }, signal);
  const oldest = read.reduce((least, { base }) => (base.number < least.number ? base : least), start ?? block);
  const isLong = block.timestamp - oldest.timestamp >= chain.pricing.windowSeconds;
  const blocks = read.length === 0 || isLong ? [] : await sampleBlocks(context, oldest, signal);
  const withState = new Set(read.map(({ reading }) => reading.pool));
  const some = pools.filter(({ pool }) => withState.has(pool));
  const samples = await Promise.all(
    blocks.map(async (at) => ({ at, found: (await orNull(states(some, at), signal)) ?? [] })),
  );
  return read.map(({ base, reading }) => {
    const ofPool = samples.map(({ at, found }) => ({
      time: at.timestamp,
      state: found.find(({ pool }) => pool === reading.pool)?.state ?? null,
    }));
    const time = Math.min(base.timestamp, start?.timestamp ?? base.timestamp);
    const stoodSince = standingSince(reading.state, time, ofPool, chain.pricing.jumpLimit);
    return { ...reading, block: base.number, stoodSince };
  });
}

async function startOf(
  context: StateReadingContext,
  { block, runStart }: { readonly block: StateBlock; readonly runStart: number },
  signal: AbortSignal,
): Promise<StateBlock | null> {
  return runStart >= block.number ? block : orNull(blockAt(context, runStart, signal), signal);
}

/** `time`: Unix seconds. `samples`: newest first. */
export function standingSince(
  state: PoolReading['state'],
  time: number,
  samples: readonly { readonly time: number; readonly state: PoolReading['state'] | null }[],
  limit: Fraction,
): number {
  let since = time;
  for (const sample of samples) {
    if (sample.state === null || !isAlike(sample.state, state, limit)) break;
    since = sample.time;
  }
  return since;
}

function isAlike(earlier: PoolReading['state'], state: PoolReading['state'], limit: Fraction): boolean {
  const [before = null, now = null] = [earlier, state].map((each) => priceOf(each, RATIO));
  if (before === null || now === null) return false;
  const depths = [earlier, state].map((each) =>
    each.of === 'reserves' ? [each.reserve0, each.reserve1] : [each.liquidity],
  );
  const isDeep = depths[1]?.every((depth, side) => (depths[0]?.[side] ?? 0n) * DEPTH_FACTOR >= depth);
  return areWithin(before, now, limit) && isDeep === true;
}

/** Stable pairs too: reserves change more than the price. */
const RATIO = { isStable: null, tickSpacing: null, decimals: null };

async function sampleBlocks(
  context: StateReadingContext,
  { number, timestamp }: StateBlock,
  signal: AbortSignal,
) {
  const { holdSeconds } = context.chain.pricing;
  const probe = Math.max(0, number - PROBE_BLOCKS);
  const before =
    probe === number || holdSeconds === 0 ? null : await orNull(blockAt(context, probe, signal), signal);
  if (before === null) return [];
  const perBlock = Math.max((timestamp - before.timestamp) / (number - probe), SHORTEST_SECONDS);
  const span = Math.min(number, Math.ceil((2 * holdSeconds) / perBlock));
  const blocks = await Promise.all(
    sampleNumbers(number, span, randomInt).map((sample) => orNull(blockAt(context, sample, signal), signal)),
  );
  return blocks.filter((block) => block !== null);
}

/** Blocks of some chains are closer, but no node has the states of so many. */
const SHORTEST_SECONDS = 0.1;

/** One per part of the `span` below `number`, highest first. Traders can't foresee them. */
export function sampleNumbers(number: number, span: number, random: (from: number, before: number) => number) {
  const parts = Array.from({ length: SAMPLES }, (_, part) => {
    const [near, far] = [part, part + 1].map((edge) => Math.floor((span * edge) / SAMPLES));
    return near === undefined || far === undefined || near === far ? [] : [random(number - far, number - near)];
  });
  return parts.flat();
}

async function blockAt({ database, chain, pool }: StateReadingContext, number: number, signal: AbortSignal) {
  const known = await knownBlock(database, chain, number);
  if (known !== null) return known;
  const { value } = await pool.request('eth_getBlockByNumber', [toQuantity(number), false], { signal });
  return parseHeader(value);
}

async function orNull<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value | null> {
  try {
    return await value;
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    return null;
  }
}

async function readFirstEvents(
  { database, chain }: { readonly database: StateReadingContext['database']; readonly chain: Pick<Chain, 'id'> },
  pools: readonly FoundPool[],
  { first, last }: { readonly first: number; readonly last: number },
): Promise<ReadonlyMap<Address, { readonly block: number; readonly time: number }>> {
  const chainId = sql`${chain.id}`;
  const inBlocks = sql`chain_id = ${chainId} AND block_number BETWEEN ${first} AND ${last}`;
  const ranges = pools.map(
    ({ pool }, position) => sql`(SELECT ${rawSql(position)} AS position, block_number FROM pool_states
      WHERE pool_key = ${poolKey(pool)}::bigint AND pool = ${hexBytes(pool)}::bytea AND ${inBlocks} ORDER BY block_number LIMIT 1)`,
  );
  const rows = await database.query<{ position: number; block: number; time: number }>(
    sql`WITH first AS MATERIALIZED (${joinSql(ranges, ' UNION ALL ')})
     SELECT position, first.block_number AS block, extract(epoch FROM block_timestamp)::float8 AS time
     FROM first JOIN blocks ON blocks.chain_id = ${chainId} AND blocks.block_number = first.block_number`,
  );
  return new Map(
    rows.flatMap(({ position, ...event }) =>
      pools.slice(position, position + 1).map(({ pool }) => [pool, event]),
    ),
  );
}
