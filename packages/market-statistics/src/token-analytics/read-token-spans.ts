import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Indexed } from '@chainstead/data-api';
import type { TimeSpan, TradeSums } from '@chainstead/markets';
import { type PriceSources, readPlace, readTokenStates, readTradedPools, type TokenState } from '@chainstead/prices';
import { readFigures, readFiguresIfSummed } from '../pools/statistics-sources.ts';
import { readSwapsSince, readUndecided } from './token-coverage.ts';
import { poolsOfToken } from './token-figures.ts';

/** A token at the newest indexed block, over spans of time, and at some moments. */
export interface TokenSpans {
  readonly now: TokenState;
  /** In the order of the spans. Null: not all swaps of the span are indexed, or summed. */
  readonly figures: readonly (TradeSums | null)[];
  /** In the order of the moments. Null: not indexed. */
  readonly states: readonly (TokenState | null)[];
  readonly indexed: Indexed;
}

/** The wanted times of a token. */
export interface WantedTimes {
  readonly spans: readonly TimeSpan[];
  /** Unix seconds. A state is that of the last block until there. */
  readonly moments: readonly number[];
}

/** The wanted figures of a token. */
interface FigureOptions {
  /** Whether distinct traders are counted. @default true */
  readonly countsTraders?: boolean;
  /** Whether the spans are aligned to UTC. Others end at the newest block. @default false */
  readonly isAligned?: boolean;
  /** Whether figures that take too many swaps are null, instead of an error. @default false */
  readonly mayMiss?: boolean;
}

/** By token. */
interface SpansOfTokens {
  /** Unix seconds of the newest indexed block; null: no block is indexed. */
  readonly time: number | null;
  readonly tokens: ReadonlyMap<Address, TokenSpans>;
}

/**
 * Returns tokens that have a proven pool against an anchor, or are anchors with a price. Others are missing. The number of statements hardly
 * depends on that of tokens.
 * @param timesOf the wanted times by the time of the newest indexed block
 * @throws {SwapsNotSummedError} if the figures take too many swaps that are not summed yet
 */
export async function readTokenSpans(
  sources: PriceSources,
  chain: Chain,
  tokens: readonly Address[],
  timesOf: (newest: number) => WantedTimes,
  options: FigureOptions = {},
): Promise<SpansOfTokens> {
  const { reads } = sources;
  const { place, indexed } = await readPlace(reads, chain, { of: 'newest' }, chain.pricing.windowSeconds);
  if (place === null) return { time: null, tokens: new Map() };
  const { time } = place;
  const now = await readTokenStates(sources, chain, tokens, place);
  const pools = await readTradedPools(reads, chain, now);
  const known = new Map([...now].filter(([token, { usd }]) => usd !== null || pools.has(token)));
  if (known.size === 0) return { time, tokens: new Map() };
  const names = [...known.keys()];
  const { spans, moments } = timesOf(time);
  const groups = names.map((token) => poolsOfToken(token, pools.get(token) ?? [], chain));
  const { countsTraders = true, isAligned = false, mayMiss = false } = options;
  const query = { groups, spans, lastBlock: place.block, time, isAligned, countsTraders };
  const figures = mayMiss
    ? await readFiguresIfSummed({ ...sources, contracts: null }, chain, query)
    : await readFigures(sources, chain, query);
  const states: ReadonlyMap<Address, TokenState>[] = [];
  for (const moment of moments) states.push(moment >= time ? now : await readPastStates(sources, chain, names, moment));
  const since = await readSwapsSince(reads, chain, place.block);
  const undecided = await readUndecided(reads, chain, names);
  const isCovered = spans.map(({ from }) => since !== null && since < from);
  const isComplete = indexed.complete && isCovered.every(Boolean);
  const found = [...known].map(([token, state]): readonly [Address, TokenSpans] => {
    const ofToken = figures?.get(token) ?? [];
    return [
      token,
      {
        now: state,
        figures: spans.map((_, at) => (isCovered[at] === true ? (ofToken[at] ?? null) : null)),
        states: states.map((ofMoment) => ofMoment.get(token) ?? null),
        indexed: { ...indexed, complete: isComplete && !undecided.has(token) && state.isFinal },
      },
    ];
  });
  return { time, tokens: new Map(found) };
}

/** States at the last block until a moment. Contracts are not read: past balances follow from the newest. */
async function readPastStates(
  sources: PriceSources,
  chain: Chain,
  tokens: readonly Address[],
  time: number,
): Promise<ReadonlyMap<Address, TokenState>> {
  const { windowSeconds } = chain.pricing;
  const { place } = await readPlace(sources.reads, chain, { of: 'time', time }, windowSeconds);
  return place === null ? new Map() : readTokenStates({ ...sources, contracts: null }, chain, tokens, place);
}
