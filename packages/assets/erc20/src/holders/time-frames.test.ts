import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginningOf, beginningsDown, endOf, TIME_FRAMES, type TimeFrame } from './historical-holders-route.ts';

const at = (text: string): number => Date.parse(text);
const shown = (moment: number): string => new Date(moment).toISOString();

test.each<readonly [TimeFrame, string, string]>([
  ['1min', '2024-02-29T13:47:00.000Z', '2024-02-29T13:48:00.000Z'],
  ['5min', '2024-02-29T13:45:00.000Z', '2024-02-29T13:50:00.000Z'],
  ['10min', '2024-02-29T13:40:00.000Z', '2024-02-29T13:50:00.000Z'],
  ['30min', '2024-02-29T13:30:00.000Z', '2024-02-29T14:00:00.000Z'],
  ['1h', '2024-02-29T13:00:00.000Z', '2024-02-29T14:00:00.000Z'],
  ['4h', '2024-02-29T12:00:00.000Z', '2024-02-29T16:00:00.000Z'],
  ['12h', '2024-02-29T12:00:00.000Z', '2024-03-01T00:00:00.000Z'],
  ['1d', '2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
  // A Thursday: its week began on Monday.
  ['1w', '2024-02-26T00:00:00.000Z', '2024-03-04T00:00:00.000Z'],
  ['1m', '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
])('a moment lies in the interval of %s from %s to %s', (frame, starts, ends) => {
  const beginning = beginningOf(frame, at('2024-02-29T13:47:11.123Z'));
  expect([shown(beginning), shown(endOf(frame, beginning))]).toEqual([starts, ends]);
});

test('intervals follow each other without a gap, and each moment lies in its own', () => {
  const moment = fc.integer({ min: at('1971-01-01T00:00:00Z'), max: at('2100-01-01T00:00:00Z') });
  fc.assert(
    fc.property(fc.constantFrom(...TIME_FRAMES), moment, (frame, from) => {
      const [newest = 0, ...older] = beginningsDown(frame, from, 0, 50);
      expect(newest).toBeLessThanOrEqual(from);
      expect(endOf(frame, newest)).toBeGreaterThan(from);
      let next = newest;
      for (const beginning of older) {
        expect(endOf(frame, beginning)).toBe(next);
        next = beginning;
      }
    }),
  );
});

test('no interval begins below the lowest', () => {
  expect(beginningsDown('1d', at('2024-03-02T10:00:00Z'), at('2024-02-29T00:00:00Z'), 100).map(shown)).toEqual([
    '2024-03-02T00:00:00.000Z',
    '2024-03-01T00:00:00.000Z',
    '2024-02-29T00:00:00.000Z',
  ]);
});
