import type { Chain } from '@chainstead/chains';
import type { PriceFeed } from '@chainstead/chains/price-feeds';
import { type Address, ChainsteadError, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, bigIntAt, returnedNumber } from '@chainstead/events/abi';
import { stateAt } from '@chainstead/node-reads';
import { StateNotArchivedError } from '@chainstead/node-reads/requests';
import type { UpstreamPool } from '@chainstead/rpc';
import { DECIMALS, DECIMALS_MAX, PHASE_ID, PHASE_ID_MAX, phaseAggregator } from '../feeds/feed-phases.ts';
import type { BlockIdentity } from './feed-starts.ts';

export interface FeedAnswer {
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
