import { expect, test } from 'vitest';
import { renderSources, sourceJson } from './progress.ts';

const NOW = Date.parse('2026-01-02T03:00:00Z');
const idle = { blocks: 0, failures: 0, reason: null, until: null };
const failing = { blocks: 7, failures: 2, reason: 'lacks r of block 7', until: NOW + 90_000 };
const source = {
  name: 'portal a.example',
  available: [{ from: 0, to: 9 }],
  uses: { blocks: failing, logs: { ...idle, blocks: 1_200 } },
};
const covered = (from: number, to: number, upstream: string | null) =>
  ({ dataset: 'swaps', range: { from, to }, proof: 'receipts', reason: null, upstream }) as const;
const status = { sources: [source], unknownHead: null, coverage: [] };

test('a line shows the blocks of each use, and the reason and end of a pause', () => {
  expect(renderSources(status, NOW)).toEqual([
    '  source      portal a.example: 7 whole blocks, left alone until 03:01 UTC: lacks r of block 7; 1200 blocks of logs',
  ]);
  expect(renderSources(status, NOW + 90_000)).toEqual([
    '  source      portal a.example: 7 whole blocks, last failure: lacks r of block 7; 1200 blocks of logs',
  ]);
});

test('files that do not hold are shown, the first five of them', () => {
  const refusals = Array.from({ length: 7 }, (_, at) => ({ file: `${at}.ere`, reason: `${at}.ere: it is cut` }));
  const lines = renderSources({ ...status, sources: [{ ...source, refusals }] }, NOW);
  expect(lines.slice(1)).toEqual([
    ...[0, 1, 2, 3, 4].map((at) => `    left out: ${at}.ere: it is cut`),
    '    left out: 2 more files',
  ]);
});

test('the newest ranges of a source are shown, each once', () => {
  const ranges = [0, 20, 40, 60, 80].map((from) => covered(from, from + 9, 'portal a.example'));
  const coverage = [
    ...ranges,
    { ...covered(85, 95, 'portal a.example'), dataset: 'logs' },
    covered(96, 99, null),
  ];
  expect(renderSources({ ...status, coverage }, NOW)[1]).toBe(
    '    56 indexed blocks come from it: 80 to 95, 60 to 69, 40 to 49, and 2 older ranges',
  );
});

test('the state of an ended process is not shown', () => {
  const unknownHead = { since: new Date(NOW), reason: 'no process', isSilent: true };
  expect(renderSources({ ...status, unknownHead }, NOW)).toEqual([]);
});

test('JSON has all uses', () => {
  expect(sourceJson(source, [covered(3, 4, 'portal a.example'), covered(5, 9, null)])).toEqual({
    name: 'portal a.example',
    available: [{ from: 0, to: 9 }],
    blocks: {
      blocks_read: 7,
      failures: 2,
      reason: 'lacks r of block 7',
      left_alone_until: '2026-01-02T03:01:30.000Z',
    },
    logs: { blocks_read: 1_200, failures: 0, reason: null, left_alone_until: null },
    indexed_blocks: 2,
    newest_ranges: [{ from: 3, to: 4 }],
    left_out: [],
  });
});
