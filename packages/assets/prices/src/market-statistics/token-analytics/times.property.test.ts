import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stepsUntil, TIMEFRAMES, WINDOWS, windowsUntil } from './requested-tokens.ts';

const seconds = fc.integer({ min: 1_400_000_000, max: 4_000_000_000 });

test('steps are aligned, follow each other, and the last one contains the newest block', () => {
  fc.assert(
    fc.property(seconds, fc.constantFrom(...TIMEFRAMES), (newest, timeframe) => {
      const { spans, moments } = stepsUntil(newest, timeframe);
      const [length] = spans.map(({ from, to }) => to - from);
      for (const [at, { from, to }] of spans.entries()) {
        expect([to - from, from % (length ?? 0)]).toEqual([length, 0]);
        expect(moments[at]).toBe(to - 1);
        if (at > 0) expect(from).toBe(spans[at - 1]?.to);
      }
      const last = spans.at(-1);
      expect(last !== undefined && last.from <= newest && newest < last.to).toBe(true);
      expect(spans.length * (length ?? 0)).toBe({ '1d': 86_400, '7d': 604_800, '30d': 2_592_000 }[timeframe]);
    }),
  );
});

test('a window ends with the newest block, and begins after its first state', () => {
  fc.assert(
    fc.property(seconds, (newest) => {
      const lengths = Object.values(WINDOWS);
      const { spans, moments } = windowsUntil(newest, lengths);
      for (const [at, { from, to }] of spans.entries()) {
        expect([to - 1, to - from]).toEqual([newest, lengths[at]]);
        expect(moments[at]).toBe(from - 1);
      }
    }),
  );
});
