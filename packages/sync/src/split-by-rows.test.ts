import type { Log } from '@chainstead/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Dataset } from './dataset.ts';
import { splitByRows } from './split-by-rows.ts';
import { marks } from './testing/marks-dataset.ts';

/** A log that causes as many rows as its index says. */
const logOf = (blockNumber: number, logIndex: number): Log => ({
  address: `0x${'11'.repeat(20)}` as Log['address'],
  topics: [],
  data: '0x',
  blockNumber,
  blockHash: `0x${'22'.repeat(32)}` as Log['blockHash'],
  transactionHash: `0x${'33'.repeat(32)}` as Log['transactionHash'],
  transactionIndex: 0,
  logIndex,
  blockTimestamp: null,
});
const growing = { ...marks, rowsMax: (log: Log) => log.logIndex } as Dataset;
const plain = marks as Dataset;
const blocks = fc
  .array(fc.array(fc.nat(40), { minLength: 1, maxLength: 4 }), { maxLength: 12 })
  .map((all) => all.flatMap((rows, number) => rows.map((count) => logOf(number * 2, count))));
const rowsOf = (logs: readonly Log[]): number => logs.reduce((sum, log) => sum + Math.max(1, log.logIndex), 0);
const blocksOf = (logs: readonly Log[]): number[] => [...new Set(logs.map((log) => log.blockNumber))];

test('portions are all logs in order, cut between blocks, none above the bound but for a single block, none smaller than need be', () => {
  fc.assert(
    fc.property(blocks, fc.integer({ min: 1, max: 100 }), (logs, rowsAtOnce) => {
      const portions = splitByRows(logs, [plain, growing], rowsAtOnce);
      expect(portions.flat()).toEqual(logs);
      expect(portions.flatMap(blocksOf)).toEqual(blocksOf(logs));
      for (const [index, portion] of portions.entries()) {
        if (blocksOf(portion).length > 1) expect(rowsOf(portion)).toBeLessThanOrEqual(rowsAtOnce);
        const next = portions[index + 1]?.filter((log, _, all) => log.blockNumber === all[0]?.blockNumber);
        if (next !== undefined) expect(rowsOf([...portion, ...next])).toBeGreaterThan(rowsAtOnce);
      }
    }),
  );
});

test('where no dataset says otherwise, a log counts as one row', () => {
  const logs = [1, 2, 3, 4].map((number) => logOf(number, 1_000));
  expect(splitByRows(logs, [plain], 4)).toEqual([logs]);
  expect(splitByRows(logs, [plain], 3)).toEqual([logs.slice(0, 3), logs.slice(3)]);
});

test('nothing is one portion too', () => {
  expect(splitByRows([], [growing], 1)).toEqual([[]]);
});
