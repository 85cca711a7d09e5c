import { expect, test } from 'vitest';
import { rateOf } from './estimate-history.ts';

const CHUNK = { blocksMax: 1_000, logsPerChunk: 6_000 };
const RUNS = [
  { blocks: 10, waitMs: 500, workMs: 10 },
  { blocks: 10, waitMs: 300, workMs: 30 },
];

test('the wait for a request is divided by the blocks of a full one', () => {
  // 4 chunks at once; 400 ms for 1,000 blocks, and 40 ms for 20 blocks.
  expect(rateOf({ runs: RUNS, blocks: 20, weight: 20 }, CHUNK)).toBeCloseTo(4_000 / (0.4 + 2), 5);
  // 600 logs in a block: a request has 10 blocks.
  expect(rateOf({ runs: RUNS, blocks: 20, weight: 12_000 }, CHUNK)).toBeCloseTo(4_000 / (40 + 2), 5);
});

test('each block of a node takes its own time', () => {
  const runs = [
    { blocks: 10, waitMs: 0, workMs: 100 },
    { blocks: 10, waitMs: 0, workMs: 300 },
  ];
  expect(rateOf({ runs, blocks: 20, weight: 20 }, null)).toBeCloseTo(4_000 / 20, 5);
});

test('filtered logs of a node wait as long as the fastest request', () => {
  const runs = [
    { blocks: 10, waitMs: 0, workMs: 50 },
    { blocks: 10, waitMs: 0, workMs: 60 },
  ];
  expect(rateOf({ runs, blocks: 20, weight: 20 }, CHUNK)).toBeCloseTo(4_000 / (0.05 + 0.5), 5);
});

test('the first requests of a sample do not count: they open connections', () => {
  const slow = Array.from({ length: 4 }, () => ({ blocks: 10, waitMs: 0, workMs: 9_000 }));
  const runs = [...slow, ...Array.from({ length: 16 }, () => ({ blocks: 10, waitMs: 0, workMs: 100 }))];
  expect(rateOf({ runs, blocks: 200, weight: 20 }, null)).toBeCloseTo(4_000 / 10, 5);
});

test('a source without a block has no speed', () => {
  expect(rateOf({ runs: [], blocks: 0, weight: 0 }, CHUNK)).toBeNull();
});
