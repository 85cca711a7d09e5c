/**
 * Pushes of the only pool of a token, seen by a program that starts before, during or after them: with and without earlier requests, with nodes
 * that have many states or few. For ten minutes, the price is within 10 % of the honest one, or there is none.
 */
import { DEFAULT_PRICING_RULES } from '@chainstead/chains/pricing-rules';
import { parseAddress, wholeFraction } from '@chainstead/core';
import { sampleNumbers, standingSince } from '@chainstead/markets/testing';
import { addressOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { priceFrom } from '../read/token-price.ts';
import type { PoolHistory } from '../states/pool-history.ts';
import type { StateSince } from '../states/side-depths.ts';

const TOKEN = parseAddress(`0x${'11'.repeat(20)}`);
const DOLLAR = parseAddress(`0x${'22'.repeat(20)}`);
const UNIT = 10n ** 18n;
const FIGURES = {
  anchors: new Map([[DOLLAR, wholeFraction(1n)]]),
  decimals: new Map([TOKEN, DOLLAR].map((token) => [token, 18])),
  rules: DEFAULT_PRICING_RULES,
};
const { holdSeconds, windowSeconds, jumpLimit } = DEFAULT_PRICING_RULES;
const BINS = 1 << 23;
const BIN_STEP = 100;

type Kind = 'v2' | 'v3' | 'v4' | 'liquidity-book';

/** A state at a price, with a million dollars on each side. */
function stateAt(kind: Kind, price: number): Pick<StateSince, 'state' | 'balances'> {
  const root = Math.sqrt(price);
  const [one, other] = [1e6 / root, 1e6 * root].map((value) => BigInt(Math.round(value)) * UNIT) as [
    bigint,
    bigint,
  ];
  if (kind === 'v2') return { state: { of: 'reserves', reserve0: one, reserve1: other }, balances: [one, other] };
  const balances = [10n ** 8n * UNIT, 10n ** 8n * UNIT] as const;
  if (kind === 'liquidity-book')
    return { state: { of: 'bin', activeId: BINS + Math.round(Math.log(price) / Math.log(1.01)) }, balances };
  const sqrtPriceX96 = (BigInt(Math.round(root * 1e9)) << 96n) / 10n ** 9n;
  return { state: { of: 'price', sqrtPriceX96, liquidity: 10n ** 6n * UNIT, tick: 0 }, balances };
}

/** Block times, prices and the place of everything, by block. */
const schedule = fc.record({
  kind: fc.constantFrom<Kind>('v2', 'v3', 'v4', 'liquidity-book'),
  seconds: fc.constantFrom(2, 12),
  /** Honest trades: a part of a percent each, by the number of blocks between them. */
  trades: fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: -5, max: 5 })), { maxLength: 40 }),
  factor: fc.constantFrom(0.1, 0.3, 3, 10, 100),
  /** How long the push stays. Seconds. */
  lasts: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 599 })),
  /** From the start of the program to the push. Seconds. */
  before: fc.oneof(fc.integer({ min: -600, max: 60 }), fc.integer({ min: -600, max: 3_000 })),
  /** From the push to the first request. Seconds; null: each moment has the first one. */
  request: fc.option(fc.integer({ min: -3_000, max: 600 })),
  /** States that nodes have. Blocks. */
  archive: fc.constantFrom(1, 128, 100_000),
  random: fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
});

type Schedule = typeof schedule extends fc.Arbitrary<infer One> ? One : never;

test('a push before, during or after a late start gives no wrong price for ten minutes, over 200 schedules', () => {
  let served = 0;
  fc.assert(
    fc.property(schedule, (one) => {
      served += pricesOf(one).filter((price) => price !== null).length;
    }),
    { numRuns: 200, seed: 60 },
  );
  // A rule that never returns a price would hold too.
  expect(served).toBeGreaterThan(1_000);
});

/** Requires each price of the ten minutes after the push to be honest, and returns them. */
function pricesOf(one: Schedule): readonly (number | null)[] {
  const { kind, seconds, factor, lasts, before, request } = one;
  const push = Math.ceil(8_000 / seconds);
  const end = push + Math.max(1, Math.floor(lasts / seconds));
  const start = push - Math.round(before / seconds);
  const honest = honestPrices(one, push + Math.ceil(1_300 / seconds));
  const pushed = (block: number): number => (honest[block] ?? 4) * (block >= push && block < end ? factor : 1);
  const hasEvent = (block: number): boolean => pushed(block) !== pushed(block - 1);
  const found: (number | null)[] = [];
  for (let block = Math.max(push, start); block < push + holdSeconds / seconds; block += 3) {
    const first =
      request === null ? block : Math.min(block, Math.max(start, push + Math.round(request / seconds)));
    const history = knownHistory(one, { kind, block, start, first, pushed, hasEvent });
    const price = history === null ? null : priceFrom([history], FIGURES, { time: block * seconds });
    const usd = price?.of === 'pools' ? Number(price.usd.numerator) / Number(price.usd.denominator) : null;
    found.push(usd);
    if (usd !== null) expect(Math.abs(usd / (honest[block] ?? 4) - 1), `block ${block - push}`).toBeLessThan(0.1);
  }
  return found;
}

/** Around four dollars: within 4 % altogether. */
function honestPrices({ trades }: Schedule, last: number): readonly number[] {
  const prices: number[] = [];
  let price = 4;
  let next = 1;
  for (let block = 0, trade = 0; block <= last; block++) {
    if (block === next && trades.length > 0) {
      const [gap, change] = trades[trade++ % trades.length] ?? [1, 0];
      price = Math.min(4.08, Math.max(3.92, price * (1 + change / 1_000)));
      next = block + gap;
    }
    prices.push(price);
  }
  return prices;
}

interface Knowledge {
  readonly kind: Kind;
  readonly block: number;
  /** First indexed block. */
  readonly start: number;
  /** Block of the first request. */
  readonly first: number;
  readonly pushed: (block: number) => number;
  readonly hasEvent: (block: number) => boolean;
}

/** What rows have of the pool. Managers and bins count from their creation on, which is then the start. */
function knownHistory(
  one: Schedule,
  { kind, block, start, first, pushed, hasEvent }: Knowledge,
): PoolHistory | null {
  const { seconds, archive, random } = one;
  const events = Array.from({ length: block - start + 1 }, (_, place) => start + place).filter(
    (at) => hasEvent(at) || (at === start && (kind === 'v4' || kind === 'liquidity-book')),
  );
  const states = events.map(
    (at): StateSince => ({ block: at, since: at * seconds, ...stateAt(kind, pushed(at)) }),
  );
  const event = events.find((at) => at <= first);
  const base = event === undefined ? first : event - 1;
  const isRead = (kind === 'v2' || kind === 'v3') && first - base < archive;
  if (isRead) {
    const numbers = random[Symbol.iterator]();
    const next = (from: number, until: number): number =>
      from + Math.floor((numbers.next().value ?? 0) * (until - from));
    const oldest = Math.min(base, start);
    const read = stateAt(kind, pushed(base));
    const samples = sampleNumbers(oldest, Math.ceil((2 * holdSeconds) / seconds), next).map((at) => {
      const { state } = stateAt(kind, pushed(at));
      return { time: at * seconds, state: first - at < archive && state.of !== 'bin' ? state : null };
    });
    if (read.state.of === 'bin') throw new RangeError('No bins are read');
    states.unshift({
      block: base,
      ...read,
      since: standingSince(read.state, oldest * seconds, samples, jumpLimit),
    });
  }
  const last = states.findLastIndex(({ since }) => since <= block * seconds - windowSeconds);
  const shown = states.slice(Math.max(0, last));
  const [oldest] = shown;
  if (oldest === undefined) return null;
  return {
    ...{ pool: addressOf(9), exchange: 'Example', factory: addressOf(8), token0: TOKEN, token1: DOLLAR },
    ...{ isStable: null, tickSpacing: kind === 'liquidity-book' ? BIN_STEP : null, states: shown },
    ...{ changedAt: oldest, createdAt: isRead ? null : start * seconds, readAt: null, depth: 'known' },
  };
}
