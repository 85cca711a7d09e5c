import { createChainRegistry } from '@chainstead/chains';
import { expect, test } from 'vitest';
import { marks } from '../testing/marks-dataset.ts';
import { estimateRangeWork } from './perform-range-work.ts';

const chain = createChainRegistry().get('eth');
const ranges = [{ from: 0, to: 99_999 }];
const covered = [{ dataset: marks.name, range: { from: 0, to: 24_999 } }];
const estimate = (work: 'backfill' | 'verify' | 'reindex', proof: 'none' | 'receipts' = 'none') =>
  estimateRangeWork({ work, ranges, datasets: [marks], chain }, covered, proof);

test('work on ranges tells what it reads, and how many calls of nodes that takes', () => {
  expect(estimate('backfill')).toEqual({ blocks: 100_000, read: 75_000, callsMin: 4, callsMax: 150_000 });
  expect(estimate('backfill', 'receipts')).toMatchObject({ read: 75_000, callsMin: 150_000 });
  expect(estimate('verify')).toEqual({ blocks: 100_000, read: 25_000, callsMin: 50_000, callsMax: 50_000 });
  expect(estimate('reindex')).toMatchObject({ read: 100_000 });
});
