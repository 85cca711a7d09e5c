import { expect, test } from 'vitest';
import { readPosition, writePosition } from './webhooks.ts';

const ID = '5f263741-fcaf-447f-890d-6b1b82eea35c';

test.each([
  ['2026-11-22 20:07:57.123456+00', '2026-11-22T20:07:57.123456Z'],
  ['2026-11-22 20:07:57+05:30', '2026-11-22T14:37:57Z'],
  ['2026-01-01 00:00:00.5-03', '2026-01-01T03:00:00.5Z'],
])('a position keeps its time to the microsecond: %s', (place, read) => {
  expect(readPosition(writePosition([place, ID]))).toEqual([read, ID]);
});

test.each([undefined, ''])('%j is the first page', (given) => {
  expect(readPosition(given)).toBeNull();
});

test.each([
  'x',
  `2026-13-01 00:00:00+00_${ID}`,
  `2026-11-22 25:00:00+00_${ID}`,
  `2026-11-22 20:07:57+00_${ID}'`,
  `now_${ID}`,
  '2026-11-22 20:07:57+00_1',
])('%j is refused', (given) => {
  expect(() => readPosition(given)).toThrow('after');
});
