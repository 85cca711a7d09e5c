import type { BlockRange } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateCounts, type NonceSpan, narrow, spanOf, UnlikelyCountError } from './read-sent.ts';
import { blocksToAsk, isSingle, settledParts } from './search-history.ts';

/** Number of transactions that an account has sent by the end of a block. */
type CountAt = (block: number) => number;

interface Search {
  readonly found: readonly NonceSpan[];
  readonly requested: readonly number[];
  readonly rounds: number;
}

function search({ from, to }: BlockRange, countAt: CountAt, limit: number): Search {
  let spans = spanOf({ from, to }, countAt(from - 1), countAt(to));
  const requested: number[] = [];
  for (let rounds = 0; ; rounds += 1) {
    const blocks = blocksToAsk(spans, limit);
    if (blocks.length === 0) return { found: spans, requested, rounds };
    expect(blocks.length).toBeLessThanOrEqual(limit);
    requested.push(...blocks);
    spans = narrow(spans, new Map(blocks.map((block) => [block, countAt(block)])));
  }
}

/** Some blocks of a long range, many of them adjacent, with their number of transactions. */
const history = fc
  .record({
    from: fc.integer({ min: 0, max: 10_000 }),
    size: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 20_000_000 })),
  })
  .chain(({ from, size }) => {
    const place = fc.integer({ min: 0, max: size - 1 });
    const run = fc.record({
      place,
      length: fc.integer({ min: 1, max: 12 }),
      sent: fc.integer({ min: 1, max: 4 }),
    });
    return fc.record({
      range: fc.constant({ from, to: from + size - 1 }),
      before: fc.integer({ min: 0, max: 1_000 }),
      runs: fc.array(run, { maxLength: 30 }),
    });
  })
  .map(({ range, before, runs }) => {
    const sent = new Map<number, number>();
    for (const { place, length, sent: count } of runs)
      for (let block = range.from + place; block < range.from + place + length && block <= range.to; block += 1)
        sent.set(block, count);
    const blocks = [...sent.keys()].toSorted((a, b) => a - b);
    const countAt: CountAt = (at) =>
      blocks.reduce((sum, block) => (block <= at ? sum + (sent.get(block) ?? 0) : sum), before);
    return { range, sent, blocks, countAt };
  });

describe('the search for the blocks that an account sent transactions in', () => {
  it('finds every one of them, with how many, and no other', () => {
    fc.assert(
      fc.property(history, fc.integer({ min: 1, max: 40 }), ({ range, sent, blocks, countAt }, limit) => {
        const { found } = search(range, countAt, limit);
        expect(found.map(({ until, countBefore, count }) => [until, count - countBefore])).toEqual(
          blocks.map((block) => [block, sent.get(block)]),
        );
        expect(found.every(isSingle)).toBe(true);
      }),
    );
  });

  it('asks for no block twice, and for few: a halving for each change at most, shared by neighbours', () => {
    fc.assert(
      fc.property(history, ({ range, blocks, countAt }) => {
        const { requested } = search(range, countAt, 100);
        expect(new Set(requested).size).toBe(requested.length);
        const size = range.to - range.from + 1;
        expect(requested.length).toBeLessThanOrEqual(blocks.length * Math.ceil(Math.log2(size)));
        const [whole] = spanOf(range, countAt(range.from - 1), countAt(range.to));
        if (whole !== undefined) expect(requested.length).toBeLessThanOrEqual(2 * estimateCounts([whole]) + 64);
      }),
    );
  });

  it('shares steps: a run of neighbours costs little more than one of them', () => {
    const range = { from: 1, to: 20_000_000 };
    const run = (length: number) =>
      search(range, (block) => Math.max(0, Math.min(length, block - 12_345_677)), 100);
    const one = run(1).requested.length;
    expect(one).toBeLessThanOrEqual(25);
    expect(run(16).requested.length).toBeLessThanOrEqual(one + 20);
  });

  it('takes no step where nothing was sent', () => {
    expect(spanOf({ from: 5, to: 9_000_000 }, 7, 7)).toEqual([]);
  });

  it('works from the newest block down when it may ask for few at a time', () => {
    const range = { from: 1, to: 1_024 };
    const sentIn = [3, 700, 1_000];
    const countAt: CountAt = (at) => sentIn.filter((block) => block <= at).length;
    let spans = spanOf(range, 0, 3);
    const order: number[] = [];
    for (;;) {
      const single = spans.filter(isSingle);
      for (const { until } of single) if (!order.includes(until)) order.push(until);
      const [block] = blocksToAsk(spans, 1);
      if (block === undefined) break;
      spans = narrow(spans, new Map([[block, countAt(block)]]));
    }
    expect(order).toEqual([1_000, 700, 3]);
  });

  it('knows at each step which blocks are settled: no change is in them', () => {
    fc.assert(
      fc.property(history, fc.nat(30), ({ range, blocks, countAt }, steps) => {
        let spans = spanOf(range, countAt(range.from - 1), countAt(range.to));
        for (let step = 0; step < steps; step += 1) {
          const requested = blocksToAsk(spans, 3);
          spans = narrow(spans, new Map(requested.map((block) => [block, countAt(block)])));
        }
        const settled = settledParts(range, spans);
        for (const block of blocks)
          expect(settled.some(({ from, to }) => from <= block && block <= to)).toBe(false);
        const open = spans.reduce((sum, { after, until }) => sum + until - after, 0);
        const done = settled.reduce((sum, { from, to }) => sum + to - from + 1, 0);
        expect(open + done).toBe(range.to - range.from + 1);
      }),
    );
  });

  it('refuses a count that can not be: one that falls, or leaps over what comes after', () => {
    expect(() => spanOf({ from: 1, to: 9 }, 5, 4)).toThrow(UnlikelyCountError);
    const spans = spanOf({ from: 1, to: 8 }, 5, 7);
    expect(() => narrow(spans, new Map([[4, 8]]))).toThrow(UnlikelyCountError);
    expect(() => narrow(spans, new Map([[4, 4]]))).toThrow(UnlikelyCountError);
  });
});
