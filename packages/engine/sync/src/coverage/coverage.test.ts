import { type BlockRange, type ChainId, parseChainId } from '@chainstead/core';
import type { ProofLevel } from '@chainstead/proof';
import { coverBlocks } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DatasetCoverage,
  listCoverage,
  missingCoverage,
  recordCoverage,
  removeCoverage,
} from './coverage.ts';

const CHAIN: ChainId = parseChainId(1);
const scratch = scratchOfFile();

const covered = (from: number, to: number, proof: ProofLevel = 'none', upstream: string | null = 'a') => ({
  range: { from, to },
  proof,
  reason: null,
  upstream,
});

async function record(chainId: ChainId, ...records: ReturnType<typeof covered>[]): Promise<DatasetCoverage[]> {
  for (const one of records)
    await scratch.database.transaction((transaction) => recordCoverage(transaction, chainId, ['d'], one));
  return listCoverage(scratch.database, chainId);
}

describe('recordCoverage', () => {
  it('keeps neighbours apart whose level or source differs', async () => {
    const rows = await record(
      parseChainId(101),
      covered(1, 10),
      covered(11, 20, 'receipts', null),
      covered(21, 30, 'none', 'b'),
    );
    expect(rows).toHaveLength(3);
  });

  // Invariant: SYNC-COVERAGE-DISJOINT
  it('agrees with a model that keeps one entry for each block, after any history', async () => {
    const operation = fc.record({
      from: fc.integer({ min: 0, max: 40 }),
      size: fc.integer({ min: 1, max: 12 }),
      kind: fc.constantFrom<ProofLevel | 'remove'>('none', 'receipts', 'unproven', 'remove'),
    });
    let next = 1000;
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 12 }), async (operations) => {
        const chainId = parseChainId(next++);
        const model = new Map<number, string>();
        for (const { from, size, kind } of operations) {
          const range: BlockRange = { from, to: from + size - 1 };
          await scratch.database.transaction((transaction) =>
            kind === 'remove'
              ? removeCoverage(transaction, chainId, ['d'], range)
              : recordCoverage(transaction, chainId, ['d'], { range, proof: kind, reason: null, upstream: null }),
          );
          for (let block = range.from; block <= range.to; block++)
            if (kind === 'remove') model.delete(block);
            else model.set(block, kind);
        }
        const rows = await listCoverage(scratch.database, chainId);
        const blocks = new Map<number, string>();
        for (const row of rows)
          for (let block = row.range.from; block <= row.range.to; block++) blocks.set(block, row.proof);
        expect(blocks).toEqual(new Map([...model].toSorted(([a], [b]) => a - b)));
        for (const [index, row] of rows.entries()) {
          const before = rows[index - 1];
          const touches = before !== undefined && before.range.to + 1 === row.range.from;
          expect(touches && before.proof === row.proof).toBe(false);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('missingCoverage', () => {
  it('splits where the set of lacking datasets changes', () => {
    const coverage: DatasetCoverage[] = [
      { ...covered(1, 10), dataset: 'a' },
      { ...covered(5, 20), dataset: 'b' },
    ];
    expect(missingCoverage({ from: 1, to: 30 }, ['a', 'b'], coverage)).toEqual([
      { range: { from: 1, to: 4 }, datasets: ['b'] },
      { range: { from: 11, to: 20 }, datasets: ['a'] },
      { range: { from: 21, to: 30 }, datasets: ['a', 'b'] },
    ]);
  });

  // Invariant: SYNC-NO-GAP
  it('agrees with sets of block numbers', () => {
    const names = ['a', 'b', 'c'];
    const some = fc.array(
      fc.record({ dataset: fc.constantFrom(...names), from: fc.nat(40), blocks: fc.integer({ min: 1, max: 9 }) }),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(some, (ranges) => {
        const coverage = ranges.map(({ dataset, from, blocks }) => ({
          dataset,
          range: { from, to: from + blocks - 1 },
        }));
        const lacking = new Map<number, readonly string[]>();
        for (let block = 5; block <= 35; block += 1) {
          const has = (name: string) =>
            coverage.some(({ dataset, range }) => dataset === name && range.from <= block && block <= range.to);
          const without = names.filter((name) => !has(name));
          if (without.length > 0) lacking.set(block, without);
        }
        const missing = missingCoverage({ from: 5, to: 35 }, names, coverage);
        const reported = missing.flatMap(({ range, datasets }) =>
          Array.from({ length: range.to - range.from + 1 }, (_, at) => [range.from + at, datasets] as const),
        );
        expect(reported).toEqual([...lacking]);
      }),
    );
  });
});

describe('the database', () => {
  // Invariant: SYNC-COVERAGE-DISJOINT
  it('refuses overlapping ranges of one dataset, whatever writes them', async () => {
    const insert = (from: number, to: number) => coverBlocks(scratch.database, CHAIN, 'x', from, to, 'none');
    await insert(1, 10);
    await expect(insert(10, 12)).rejects.toThrow(/sync_ranges_disjoint/);
  });
});
