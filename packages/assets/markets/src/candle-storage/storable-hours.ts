import { randomUUID } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import { type BlockRange, mergeRanges } from '@chainstead/core';
import { type Database, type ReadDatabase, type Sql, sql, type Transaction } from '@chainstead/db';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import { readValueBounds, type ValueBounds } from '@chainstead/tokens/price-feeds';
import type { PoolId } from '../events/pool-event.ts';
import {
  copyCandles,
  type PoolCandle,
  type StoredSpan,
  secondsOf,
  VALID_SPAN,
} from '../pool-candles/candle-record.ts';
import { markHoursStale } from '../pool-candles/candles-projection.ts';
import {
  type BlockBoundary,
  priceDatasetOf,
  priceSettingsOf,
  readBoundary,
} from '../pool-candles/compute-candles.ts';
import { SWAPS_DATASET } from '../swap-lists/swaps-page.ts';

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

export interface SpanToStore extends StoredSpan {
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly pricesFromBlock: number;
  readonly settings: string;
}

/** A claim that was not finished in this time is taken over. */
const CLAIM_SECONDS = 600;

/** Reads need no lock: later changes mark the span. Null: stored, claimed or not allowed now. */
export async function claimSpan(
  database: Database,
  chain: Chain,
  span: SpanToStore,
  isAllowed: (transaction: Transaction) => Promise<boolean> = async () => true,
): Promise<string | null> {
  const claim = randomUUID();
  return database.transaction(async (transaction) => {
    // No commit is under way that does not see the claim.
    await lockChainCommits(transaction, chain);
    if (!(await isAllowed(transaction))) return null;
    const claimed = await transaction.query(
      sql`INSERT INTO candle_spans AS span (chain_id, hours, start, first_block, last_block, prices_from_block, settings, claim)
       VALUES (${chain.id}, ${span.hours}, ${span.start}, ${span.firstBlock}, ${span.lastBlock},
         ${span.pricesFromBlock}, ${span.settings}, ${claim})
       ON CONFLICT (chain_id, hours, start) DO UPDATE SET first_block = excluded.first_block, last_block = excluded.last_block,
         prices_from_block = excluded.prices_from_block, settings = excluded.settings, claim = excluded.claim, claimed_at = now(), is_stored = false,
         price_changes = 0
       WHERE span.settings <> excluded.settings OR span.is_stored AND span.price_changes <> 0
         OR NOT span.is_stored AND span.claimed_at < now() - make_interval(secs => ${CLAIM_SECONDS})
       RETURNING claim`,
    );
    if (claimed.length === 0) return null;
    await transaction.query(sql`DELETE FROM stale_candles WHERE ${isOfSpan(chain, span)}`);
    return claim;
  });
}

interface ClaimedCandles {
  readonly span: StoredSpan;
  readonly claim: string;
  readonly candles: Iterable<PoolCandle>;
  readonly keepsTraders: boolean;
  readonly uncertain: readonly PoolId[];
}

export function storeClaimed(
  database: Database,
  chain: Chain,
  { span, claim, candles, keepsTraders, uncertain }: ClaimedCandles,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const own = await transaction.query(
      sql`UPDATE candle_spans SET is_stored = true WHERE ${isOfSpan(chain, span)} AND claim = ${claim} AND NOT is_stored RETURNING start`,
    );
    if (own.length === 0) return false;
    await transaction.query(sql`DELETE FROM pool_candles WHERE ${isOfSpan(chain, span)}`);
    await copyCandles(transaction, chain, span, candles, keepsTraders);
    const hours = uncertain.map((pool) => ({ pool, start: span.start }));
    await markHoursStale(transaction, chain, hours);
    return true;
  });
}

function isOfSpan({ id }: Chain, { hours, start }: StoredSpan): Sql {
  return sql`chain_id = ${id} AND hours = ${hours} AND start = ${start}`;
}
