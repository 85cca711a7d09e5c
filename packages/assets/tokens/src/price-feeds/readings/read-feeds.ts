import type { Chain } from '@chainstead/chains';
import { feedsOf, type PriceFeed } from '@chainstead/chains/price-feeds';
import {
  type Address,
  type BlockHeader,
  ChainsteadError,
  type Hash,
  type Hex,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { addressBytes, hexText, rawSql, sql, type Transaction } from '@chainstead/db';
import { addressAt, bigIntAt, returnedNumber } from '@chainstead/events/abi';
import { stateAt } from '@chainstead/node-reads';
import { StateNotArchivedError } from '@chainstead/node-reads/requests';
import type { UpstreamPool } from '@chainstead/rpc';
import { feedAnswers } from '../feeds/feed-answers.ts';
import { sourcesSql } from '../feeds/feed-quotes.ts';
import { type BlockRun, joinRanges } from '../feeds/feed-steps.ts';
import { DECIMALS, DECIMALS_MAX, PHASE_ID, PHASE_ID_MAX, phaseAggregator } from '../feeds/price-sources.ts';

interface FeedAnswer {
  /** Behind the proxy; without phases, the feed itself. */
  readonly aggregator: Address;
  readonly round: bigint;
  readonly answer: bigint;
  readonly decimals: number;
  /** Unix seconds, as the feed names them. */
  readonly updatedAt: bigint;
}

export type FeedReading =
  | { readonly status: 'answer'; readonly answer: FeedAnswer }
  | { readonly status: 'silent' | 'absent' | 'unavailable' };

/** Selector of `latestRoundData()`. */
const LATEST_ROUND_DATA = '0xfeaf968c';
const CALLS: readonly Hex[] = [DECIMALS, PHASE_ID, LATEST_ROUND_DATA];
const ANSWER_BYTES_MAX = 512;
/** `roundId`, `answer`, `startedAt`, `updatedAt`, `answeredInRound`. */
const ROUND_DIGITS = 2 + 5 * 64;
const [ROUND, ANSWER, UPDATED_AT] = [0, 1, 3];
/** A proxy puts its phase above these bits. */
const AGGREGATOR_ROUND_BITS = 64;

/** In the order of `feeds`. @throws RequestAbortedError */
export async function readFeeds(
  { chain, pool }: { readonly chain: Chain; readonly pool: UpstreamPool },
  block: BlockIdentity,
  feeds: readonly PriceFeed[],
  signal: AbortSignal,
): Promise<(FeedReading | ChainsteadError)[]> {
  const state = stateAt(pool, chain, block, { answerBytesMax: ANSWER_BYTES_MAX });

  async function ask<T>(
    count: number,
    request: () => Promise<readonly T[]>,
  ): Promise<readonly (T | ChainsteadError)[]> {
    if (count === 0) return [];
    try {
      return await request();
    } catch (error) {
      if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
      return Array.from({ length: count }, () => error);
    }
  }

  const call = (calls: readonly { readonly to: Address; readonly data: Hex }[]): Promise<readonly CallResult[]> =>
    ask(calls.length, async () => {
      const results = await state.fetchTogether(calls, signal);
      return results.map(({ data, unread }) => unread ?? (data === null ? null : (data.toLowerCase() as Hex)));
    });

  const first = await call(feeds.flatMap(({ proxy }) => CALLS.map((data) => ({ to: proxy, data }))));
  const found = feeds.map(({ proxy }, index) => {
    const results = first.slice(index * CALLS.length, (index + 1) * CALLS.length);
    return { proxy, seen: interpret(results) };
  });
  const phased = found.flatMap(({ proxy, seen }) =>
    'phase' in seen && seen.phase !== null ? [{ to: proxy, data: phaseAggregator(seen.phase) }] : [],
  );
  const silent = found.flatMap(({ proxy, seen }) => ('status' in seen ? [proxy] : []));
  const aggregators = (await call(phased)).values();
  const codes = (await ask(silent.length, () => state.codes(silent, signal))).values();
  return found.map(({ proxy, seen }) => {
    if (seen instanceof ChainsteadError) return failed(seen);
    if ('status' in seen) {
      const code = codes.next().value ?? NO_CODE;
      if (code instanceof ChainsteadError) return failed(code);
      return { status: code === NO_CODE ? 'absent' : 'silent' };
    }
    const named = seen.phase === null ? null : (aggregators.next().value ?? null);
    if (named instanceof ChainsteadError) return failed(named);
    const aggregator = seen.phase === null ? proxy : (addressAt(named ?? undefined) ?? ZERO_ADDRESS);
    if (aggregator === ZERO_ADDRESS) return { status: 'silent' };
    return { status: 'answer', answer: { ...seen.answer, aggregator } };
  });
}

/** Null: the call reverted or returned nothing. An error: why no node answered. */
type CallResult = Hex | null | ChainsteadError;

interface PhasedAnswer {
  readonly phase: number | null;
  readonly answer: Omit<FeedAnswer, 'aggregator'>;
}

const SILENT = { status: 'silent' } as const;

function interpret(results: readonly CallResult[]): typeof SILENT | ChainsteadError | PhasedAnswer {
  const failure = results.find((result) => result instanceof ChainsteadError);
  if (failure !== undefined) return failure;
  const [ofDecimals, ofPhase, ofRound] = results.map((result) => (typeof result === 'string' ? result : null));
  const decimals = returnedNumber(ofDecimals);
  if (decimals === null || decimals > DECIMALS_MAX) return SILENT;
  if (ofRound === null || ofRound === undefined || ofRound.length < ROUND_DIGITS) return SILENT;
  const updatedAt = bigIntAt(ofRound, UPDATED_AT);
  // The round has no value yet.
  if (updatedAt === 0n) return SILENT;
  const phase = returnedNumber(ofPhase);
  const isPhased = phase !== null && phase > 0n && phase <= PHASE_ID_MAX;
  const round = bigIntAt(ofRound, ROUND);
  return {
    phase: isPhased ? Number(phase) : null,
    answer: {
      round: isPhased ? BigInt.asUintN(AGGREGATOR_ROUND_BITS, round) : round,
      answer: BigInt.asIntN(256, bigIntAt(ofRound, ANSWER)),
      decimals: Number(decimals),
      updatedAt,
    },
  };
}

const NO_CODE = '0x';

function failed(error: ChainsteadError): FeedReading | ChainsteadError {
  return error instanceof StateNotArchivedError ? { status: 'unavailable' } : error;
}

export type BlockIdentity = Pick<BlockHeader, 'number' | 'hash'>;

export interface FeedStart {
  readonly feed: PriceFeed;
  readonly run: BlockRun;
  readonly first: BlockIdentity | null;
  /** First block of the run with a value or a reading; null: none. */
  readonly valueFrom: number | null;
  /** A node lately had no state of a block of the run. */
  readonly isUnavailable: boolean;
}

/** Until a node is asked again. */
const UNAVAILABLE_FOR = sql`interval '1 day'`;

/** Unbroken runs of indexed blocks for each feed, oldest first. */
export async function readFeedStarts(
  database: Pick<Transaction, 'query'>,
  chain: Chain,
  pick: (runs: readonly BlockRun[]) => readonly BlockRun[],
): Promise<readonly FeedStart[]> {
  const feeds = feedsOf(chain);
  const ranges = await database.query<{ first: number; last: number }>(
    sql`SELECT first_block AS first, last_block AS last FROM sync_ranges WHERE chain_id = ${chain.id} AND dataset = ${feedAnswers.name} ORDER BY first_block`,
  );
  const runs = pick(joinRanges(ranges.map(({ first, last }) => [first, last] as const)));
  if (feeds.length === 0 || runs.length === 0) return [];
  const chainId = sql`${chain.id}::bigint`;
  const proxies = sql`unnest(${feeds.map(({ proxy }) => addressBytes(proxy))}::bytea[]) WITH ORDINALITY AS feed(proxy, number)`;
  const starts = sql`${runs.map(([first]) => first)}::bigint[], ${runs.map(([, last]) => last)}::bigint[]`;
  const inRun = (alias: string) =>
    sql`${rawSql(alias)}.chain_id = ${chainId} AND ${rawSql(alias)}.block_number BETWEEN run.first AND run.last`;
  const rows = await database.query<
    { feed: number; run: number; block: number | null; hash: Hash | null } & Pick<
      FeedStart,
      'valueFrom' | 'isUnavailable'
    >
  >(
    sql`WITH price_sources AS MATERIALIZED (${sourcesSql(feeds, proxies, chainId)})
SELECT feed.number::integer AS feed, run.number::integer AS run, known.block_number AS block, ${hexText('known.block_hash')} AS hash,
  (SELECT min(block_number) FROM (
    SELECT answer.block_number FROM price_sources AS source CROSS JOIN LATERAL (
      SELECT block_number FROM feed_answers AS answer WHERE answer.aggregator = source.address AND ${inRun('answer')} ORDER BY block_number LIMIT 1) AS answer
    WHERE source.number = feed.number
    UNION ALL SELECT min(block_number) FROM feed_readings AS reading
    WHERE reading.feed = feed.proxy AND reading.status <> 'unavailable' AND ${inRun('reading')}) AS value) AS "valueFrom",
  EXISTS (SELECT FROM feed_readings AS reading WHERE reading.feed = feed.proxy AND reading.status = 'unavailable' AND ${inRun('reading')}
    AND reading.read_at > now() - ${UNAVAILABLE_FOR}) AS "isUnavailable"
FROM ${proxies} CROSS JOIN unnest(${starts}) WITH ORDINALITY AS run(first, last, number)
LEFT JOIN LATERAL (SELECT block_number, block_hash FROM blocks WHERE ${inRun('blocks')} ORDER BY block_number LIMIT 1) AS known ON true
ORDER BY run.number, feed.number`,
  );
  return rows.flatMap(({ block, hash, valueFrom, isUnavailable, ...numbers }) => {
    const [feed, run] = [feeds[numbers.feed - 1], runs[numbers.run - 1]];
    if (feed === undefined || run === undefined) return [];
    const first = block === null || hash === null ? null : { number: block, hash };
    return [{ feed, run, first, valueFrom, isUnavailable }];
  });
}

export interface ValueBounds {
  readonly first: number;
  /** First block from whose end on every feed has a value. */
  readonly complete: number;
}

/** For the indexed run with the block; null: a feed has no value, or the block is not indexed. */
export async function readValueBounds(
  database: Pick<Transaction, 'query'>,
  chain: Chain,
  block: number,
): Promise<ValueBounds | null> {
  const starts = await readFeedStarts(database, chain, (runs) =>
    runs.filter(([first, last]) => first <= block && block <= last),
  );
  const from = starts.flatMap(({ valueFrom }) => (valueFrom === null ? [] : [valueFrom]));
  if (from.length === 0 || from.length < starts.length) return null;
  return { first: Math.min(...from), complete: Math.max(...from) };
}
