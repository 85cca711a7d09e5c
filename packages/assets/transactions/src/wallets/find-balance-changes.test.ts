import type { BlockRange } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BalanceChange, changeIn, estimateBalances, narrowChanges } from './read-received.ts';
import { blocksToAsk, isSingle, settledParts } from './search-history.ts';

/** The unexplained part of a balance at the end of a block. */
type UnexplainedAt = (block: number) => bigint;

function search({ from, to }: BlockRange, at: UnexplainedAt, limit: number) {
  let changes = changeIn({ from, to }, at(from - 1), at(to));
  const requested: number[] = [];
  for (;;) {
    const blocks = blocksToAsk(changes, limit);
    if (blocks.length === 0) return { found: changes, requested };
    expect(blocks.length).toBeLessThanOrEqual(limit);
    requested.push(...blocks);
    changes = narrowChanges(changes, new Map(blocks.map((block) => [block, at(block)])));
  }
}

interface History {
  readonly range: BlockRange;
  /** Amounts received or sent, by block. Wei. */
  readonly moved: ReadonlyMap<number, bigint>;
  readonly at: UnexplainedAt;
}

function historyOf(amount: fc.Arbitrary<bigint>): fc.Arbitrary<History> {
  return fc
    .record({
      from: fc.integer({ min: 1, max: 10_000 }),
      size: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 20_000_000 })),
    })
    .chain(({ from, size }) =>
      fc.record({
        range: fc.constant({ from, to: from + size - 1 }),
        before: fc.bigInt({ min: 0n, max: 10n ** 24n }),
        moves: fc.array(fc.tuple(fc.integer({ min: from, max: from + size - 1 }), amount), { maxLength: 30 }),
      }),
    )
    .map(({ range, before, moves }) => {
      const moved = new Map(moves);
      const at: UnexplainedAt = (block) =>
        [...moved].reduce((sum, [place, value]) => (place <= block ? sum + value : sum), before);
      return { range, moved, at };
    });
}

/** An account whose own transactions are all known: unexplained amounts are only received. */
const receipts = historyOf(fc.bigInt({ min: 1n, max: 10n ** 20n }));
/** A contract, which also pays. */
const movements = historyOf(fc.bigInt({ min: -4n, max: 4n }).filter((value) => value !== 0n));

describe('the search for the blocks in which a balance changed unexplained', () => {
  it('finds every receipt of an account that only receives, and how much it was', () => {
    fc.assert(
      fc.property(receipts, fc.integer({ min: 1, max: 40 }), ({ range, moved, at }, limit) => {
        const { found } = search(range, at, limit);
        const expected = [...moved].toSorted(([a], [b]) => a - b);
        expect(found.map(({ until, before, now }) => [until, now - before])).toEqual(expected);
        expect(found.every(isSingle)).toBe(true);
      }),
    );
  });

  it('finds nothing that did not happen where coins come and go, and what it finds adds up to the whole difference', () => {
    fc.assert(
      fc.property(movements, fc.integer({ min: 1, max: 40 }), ({ range, moved, at }, limit) => {
        const { found } = search(range, at, limit);
        for (const { until, before, now } of found) expect(now - before).toBe(moved.get(until));
        const sum = found.reduce((total, { before, now }) => total + now - before, 0n);
        expect(sum).toBe(at(range.to) - at(range.from - 1));
        expect(found.every(isSingle)).toBe(true);
      }),
    );
  });

  it('asks for no block twice, and for a halving for each change at most', () => {
    fc.assert(
      fc.property(fc.oneof(receipts, movements), ({ range, at }) => {
        const { found, requested } = search(range, at, 100);
        expect(new Set(requested).size).toBe(requested.length);
        const halvings = Math.ceil(Math.log2(range.to - range.from + 1));
        expect(requested.length).toBeLessThanOrEqual(found.length * halvings);
        const least = estimateBalances(changeIn(range, at(range.from - 1), at(range.to)));
        expect(requested.length).toBeGreaterThanOrEqual(Math.floor(least / 2));
      }),
    );
  });

  it('takes no step where all is explained', () => {
    expect(changeIn({ from: 5, to: 9_000_000 }, 7n, 7n)).toEqual([]);
  });

  it('knows at each step which blocks are settled: what came is in the others', () => {
    fc.assert(
      fc.property(receipts, fc.nat(30), ({ range, moved, at }, steps) => {
        let changes: readonly BalanceChange[] = changeIn(range, at(range.from - 1), at(range.to));
        for (let step = 0; step < steps; step += 1) {
          const requested = blocksToAsk(changes, 3);
          changes = narrowChanges(changes, new Map(requested.map((block) => [block, at(block)])));
        }
        const settled = settledParts(range, changes);
        for (const block of moved.keys())
          expect(settled.some(({ from, to }) => from <= block && block <= to)).toBe(false);
      }),
    );
  });
});
