import { expect, test } from 'vitest';
import { dateRange } from './operation-schema.ts';

const NOW = Date.UTC(2026, 2, 1, 13, 30, 15, 500);

test.each([
  ['today', '2026-03-01T00:00:00Z', '2026-03-01T13:30:15Z'],
  ['yesterday', '2026-02-28T00:00:00Z', '2026-02-28T23:59:59Z'],
  ['last 7 days', '2026-02-22T13:30:15Z', '2026-03-01T13:30:15Z'],
  ['the last hour', '2026-03-01T12:30:15Z', '2026-03-01T13:30:15Z'],
  [' Last 24 Hours ', '2026-02-28T13:30:15Z', '2026-03-01T13:30:15Z'],
])('%s are times in UTC', (words, from, to) => {
  expect(dateRange(words, NOW)).toEqual({ from, to, hasEnd: words === 'yesterday' });
});

test.each(['', 'tomorrow', 'last 99999 days', 'last 7 days or so'])('%j is no range', (words) => {
  expect(dateRange(words, NOW)).toBeNull();
});
