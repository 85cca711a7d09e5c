import type { Chain } from '@chainstead/chains';
import { type BlockRange, mergeRanges } from '@chainstead/core';
import { type Database, type ReadDatabase, sql } from '@chainstead/db';
import { readValueBounds, type ValueBounds } from '@chainstead/tokens/price-feeds';
import { type BlockBoundary, readBoundary } from '../pool-candles/block-boundaries.ts';
import { priceDatasetOf, priceSettingsOf } from '../pool-candles/price-settings.ts';
import { secondsOf, VALID_SPAN } from '../pool-candles/stored-span.ts';
import { SWAPS_DATASET } from '../swap-lists/swaps-page.ts';
import type { SpanToStore } from './claimed-span.ts';

export interface StorableBlocks {
  readonly swaps: readonly BlockRange[];
  readonly prices: readonly BlockRange[] | null;
}

export async function readStorableBlocks(database: ReadDatabase, chain: Chain): Promise<StorableBlocks> {
  const prices = priceDatasetOf(chain);
  const settled = await readSettledBlock(database, chain);
  if (settled === null) return { swaps: [], prices: null };
  const runsOf = async (dataset: string) => {
    const runs = await readRuns(database, chain, dataset);
    return runs.map(({ from, to }) => ({ from, to: Math.min(to, settled) })).filter(({ from, to }) => from <= to);
  };
  return { swaps: await runsOf(SWAPS_DATASET), prices: prices === null ? null : await runsOf(prices.name) };
}

/** The last block that no reorg replaces; null: none. */
export async function readSettledBlock(database: ReadDatabase, chain: Chain): Promise<number | null> {
  const [row] = await database.select<{ readonly settled: number | null }>(
    sql`SELECT least(checkpoint, greatest(coalesce(finalized, 0), checkpoint - ${chain.reorgDepthMax}::bigint)) AS settled FROM sync_chains WHERE chain_id = ${chain.id}`,
  );
  return row?.settled ?? null;
}

export async function listMissingHours(
  database: ReadDatabase,
  chain: Chain,
  { swaps }: StorableBlocks,
  limit: number,
) {
  const missing: number[] = [];
  for (const { from, to } of swaps.toReversed()) {
    const rows = await database.select<{ readonly hour: number }>(
      sql`WITH bounds AS MATERIALIZED (
  SELECT floor(extract(epoch FROM (SELECT block_timestamp FROM blocks WHERE chain_id = ${chain.id} AND block_number >= ${from} ORDER BY block_number LIMIT 1)) / 3600)::int AS lowest,
    floor(extract(epoch FROM (SELECT block_timestamp FROM blocks WHERE chain_id = ${chain.id} AND block_number <= ${to} ORDER BY block_number DESC LIMIT 1)) / 3600)::int AS highest
)
SELECT hour FROM bounds CROSS JOIN generate_series(bounds.highest, bounds.lowest, -1) AS hour
WHERE NOT EXISTS (SELECT FROM candle_spans WHERE chain_id = ${chain.id} AND hours = 1 AND start = hour AND ${VALID_SPAN} AND settings = ${priceSettingsOf(chain)})
ORDER BY hour DESC LIMIT ${limit - missing.length}`,
    );
    missing.push(...rows.map(({ hour }) => hour));
    if (missing.length >= limit) break;
  }
  return missing;
}

export function createHourExaminer(database: Database, chain: Chain, storable: StorableBlocks) {
  const settings = priceSettingsOf(chain);
  const heartbeat = priceDatasetOf(chain)?.heartbeatSeconds ?? 0;
  const boundaries = new Map<number, BlockBoundary>();
  const boundsOf = new Map<BlockRange, ValueBounds | null>();

  async function boundaryAt(time: number): Promise<BlockBoundary> {
    const boundary = boundaries.get(time) ?? (await readBoundary(database, chain, time));
    boundaries.set(time, boundary);
    return boundary;
  }

  /** The block that prices follow from; null: one that may be needed is missing. */
  async function pricesFrom(
    hour: number,
    begin: BlockBoundary,
    { from, to }: BlockRange,
  ): Promise<number | null> {
    const past = heartbeat === 0 ? begin : await boundaryAt(secondsOf(hour) - heartbeat);
    const wanted = past.before === null ? chain.firstBlock : past.before + 1;
    if (storable.prices === null || covers(storable.prices, wanted, to)) return wanted;
    const run = storable.prices.find((range) => covers([range], from, to));
    if (run === undefined || heartbeat === 0) return null;
    // The first hours of a run: a value in the run is never replaced by an earlier one.
    if (!boundsOf.has(run)) boundsOf.set(run, await readValueBounds(database, chain, run.from));
    const bounds = boundsOf.get(run) ?? null;
    return bounds !== null && bounds.complete <= from ? bounds.first : null;
  }

  return async (hour: number): Promise<SpanToStore | null> => {
    const [begin, end] = [await boundaryAt(secondsOf(hour)), await boundaryAt(secondsOf(hour + 1))];
    if (end.at === null) return null;
    const [firstBlock, lastBlock] = [begin.before === null ? chain.firstBlock : begin.before + 1, end.at - 1];
    if (!covers(storable.swaps, firstBlock, lastBlock)) return null;
    const pricesFromBlock = await pricesFrom(hour, begin, { from: firstBlock, to: lastBlock });
    return pricesFromBlock === null
      ? null
      : { hours: 1, start: hour, firstBlock, lastBlock, pricesFromBlock, settings };
  };
}

export function covers(runs: readonly BlockRange[], first: number, last: number): boolean {
  return first > last || runs.some(({ from, to }) => from <= first && last <= to);
}

async function readRuns(database: ReadDatabase, chain: Chain, dataset: string): Promise<readonly BlockRange[]> {
  const ranges = await database.select<BlockRange>(
    sql`SELECT first_block AS from, last_block AS to FROM sync_ranges
     WHERE chain_id = ${chain.id} AND dataset = ${dataset} ORDER BY first_block`,
  );
  return mergeRanges(ranges);
}
