import { expect, test } from 'vitest';
import type { BlockPart, PartProof } from '../dataset/whole-block.ts';
import { createTraceBackoff } from './trace-backoff.ts';

const ALL: ReadonlySet<BlockPart> = new Set(['logs', 'transactions', 'internalTransactions']);
const missing: PartProof = { level: 'unavailable', reason: 'timeout', isUnsupported: false };
const proven: PartProof = { level: 'receipts', reason: null };

test('after a block that nobody could trace, traces are not asked for, until a minute has passed', () => {
  let now = 0;
  const rest = createTraceBackoff({ now: () => now });
  rest.seen({ parts: { transactions: proven, internalTransactions: { level: 'not-applicable', reason: null } } });
  expect(rest.worthwhile(ALL)).toEqual(ALL);
  rest.seen({ parts: { transactions: proven, internalTransactions: missing } });
  expect(rest.worthwhile(ALL)).toEqual(new Set(['logs', 'transactions']));
  now = 59_999;
  rest.seen({ parts: {} });
  expect(rest.worthwhile(ALL)).toEqual(new Set(['logs', 'transactions']));
  now = 60_000;
  expect(rest.worthwhile(ALL)).toEqual(ALL);
});

test('a block whose transactions are in doubt says nothing of traces', () => {
  const rest = createTraceBackoff({ now: () => 0 });
  rest.seen({ parts: { transactions: missing, internalTransactions: missing } });
  expect(rest.worthwhile(ALL)).toEqual(ALL);
});
