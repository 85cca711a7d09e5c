import { expect, test } from 'vitest';
import { dateOf, dateRange } from './operation-schema.ts';

const NOW = Date.UTC(2026, 2, 1, 13, 30, 15, 500);

test.each([
  ['today', '2026-03-01T00:00:00Z', '2026-03-01T13:30:15Z'],
  ['yesterday', '2026-02-28T00:00:00Z', '2026-02-28T23:59:59Z'],
  ['last 7 days', '2026-02-22T13:30:15Z', '2026-03-01T13:30:15Z'],
  ['the last hour', '2026-03-01T12:30:15Z', '2026-03-01T13:30:15Z'],
  [' Last 24 Hours ', '2026-02-28T13:30:15Z', '2026-03-01T13:30:15Z'],
  ['a week', '2026-02-22T13:30:15Z', '2026-03-01T13:30:15Z'],
  ['last week', '2026-02-22T13:30:15Z', '2026-03-01T13:30:15Z'],
  ['past  2 weeks', '2026-02-15T13:30:15Z', '2026-03-01T13:30:15Z'],
  ['7d', '2026-02-22T13:30:15Z', '2026-03-01T13:30:15Z'],
  ['last 24h', '2026-02-28T13:30:15Z', '2026-03-01T13:30:15Z'],
  ['the past year', '2025-03-01T13:30:15Z', '2026-03-01T13:30:15Z'],
  ['30 days', '2026-01-30T13:30:15Z', '2026-03-01T13:30:15Z'],
  ['last month', '2026-01-30T13:30:15Z', '2026-03-01T13:30:15Z'],
  ['this week', '2026-02-23T00:00:00Z', '2026-03-01T13:30:15Z'],
  ['this month', '2026-03-01T00:00:00Z', '2026-03-01T13:30:15Z'],
  ['this year', '2026-01-01T00:00:00Z', '2026-03-01T13:30:15Z'],
])('%s are times in UTC', (words, from, to) => {
  expect(dateRange(words, NOW)).toEqual({ from, to, hasEnd: words === 'yesterday' });
});

test.each(['', 'tomorrow', 'last 99999 days', 'd', '7x', 'last 7 days or so'])('%j is no range', (words) => {
  expect(dateRange(words, NOW)).toBeNull();
});

test.each([
  ['yesterday', '2026-02-28T00:00:00Z'],
  ['7 days ago', '2026-02-22T13:30:15Z'],
  ['An hour ago', '2026-03-01T12:30:15Z'],
  ['this week', '2026-02-23T00:00:00Z'],
  ['now', '2026-03-01T13:30:15Z'],
  ['2024-01-31', '2024-01-31'],
  ['some days ago', 'some days ago'],
])('the date %s is %s', (words, date) => {
  expect(dateOf(words, NOW)).toBe(date);
});
