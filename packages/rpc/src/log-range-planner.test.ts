import { rangeSize } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLogRangePlanner, splitAtBarriers } from './log-range-planner.ts';

const KEY = 'transfers';
const options = { logRangeStart: 200, logRangeMax: 100_000, targetBytes: 1_000_000 };

function blocks(from: number, count: number): { from: number; to: number } {
  return { from, to: from + count - 1 };
}

describe('a structural cap', () => {
  test('that was told is kept for every stretch and query', () => {
    const planner = createLogRangePlanner({ ...options, logRangeStart: 50_000 });
    planner.tooManyBlocks(blocks(0, 50_000), 10_000);
    expect(planner.cap).toBe(10_000);
    expect(planner.span(blocks(0, 50_000), KEY)).toBe(10_000);
    expect(planner.span(blocks(9_000_000, 50_000), 'another')).toBe(10_000);
  });

  test('that was not told is found between what works and what was refused', () => {
    const truth = 3_300;
    const planner = createLogRangePlanner({ ...options, logRangeStart: 100_000 });
    let refusals = 0;
    for (let call = 0; call < 200; call++) {
      const range = blocks(0, planner.span(blocks(0, 100_000), KEY));
      if (rangeSize(range) > truth) {
        planner.tooManyBlocks(range, undefined);
        refusals++;
      } else planner.answered(range, KEY, { logs: 0, bytes: 40 });
    }
    expect(planner.cap).toBeGreaterThan(truth * 0.9);
    expect(planner.cap).toBeLessThanOrEqual(truth);
    expect(refusals).toBeLessThan(15);
  });

  test('that is no smaller than what was asked is not believed: half is tried', () => {
    const planner = createLogRangePlanner(options);
    planner.tooManyBlocks(blocks(0, 100), 100);
    expect(planner.cap).toBe(50);
  });
});

describe('density', () => {
  test('shrinks its own stretch, and grows back', () => {
    const planner = createLogRangePlanner({ ...options, logRangeStart: 1_000 });
    planner.answered(blocks(10_000_000, 1_000), KEY, { logs: 1, bytes: 100 });
    planner.tooDense(blocks(0, 1_000), KEY);
    expect(planner.span(blocks(0, 1_000), KEY)).toBe(500);
    expect(planner.span(blocks(10_000_000, 9_000), KEY)).toBe(4_000);
    planner.answered(blocks(0, 500), KEY, { logs: 10, bytes: 1_000 });
    expect(planner.span(blocks(500, 9_000), KEY)).toBe(2_000);
  });

  test('takes the suggested size', () => {
    const planner = createLogRangePlanner(options);
    planner.tooDense(blocks(0, 200), KEY, { suggestedBlocks: 22 });
    expect(planner.span(blocks(0, 200), KEY)).toBe(22);
  });

  test('halves where the suggestion equals the request', () => {
    const planner = createLogRangePlanner(options);
    planner.tooDense(blocks(0, 200), KEY, { suggestedBlocks: 200 });
    expect(planner.span(blocks(0, 200), KEY)).toBe(100);
  });

  test('keeps answers below a known cap of results', () => {
    const planner = createLogRangePlanner(options);
    planner.tooDense(blocks(0, 200), KEY, { limitResults: 10_000 });
    planner.answered(blocks(0, 100), KEY, { logs: 9_900, bytes: 10 });
    expect(planner.span(blocks(100, 1_000), KEY)).toBe(70);
  });

  test('keeps answers near the size aimed at', () => {
    const planner = createLogRangePlanner(options);
    planner.answered(blocks(0, 200), KEY, { logs: 8_000, bytes: 4_000_000 });
    expect(planner.span(blocks(200, 1_000), KEY)).toBe(50);
  });

  test('of one query says nothing of another', () => {
    const planner = createLogRangePlanner(options);
    planner.tooDense(blocks(0, 200), KEY);
    expect(planner.span(blocks(0, 200), 'one address')).toBe(200);
  });
});

test('whatever an upstream answers, a span is at least one block and at most what is asked', () => {
  const event = fc.record({
    kind: fc.constantFrom('answered', 'tooDense', 'tooManyBlocks'),
    from: fc.nat(1_000_000),
    size: fc.integer({ min: 1, max: 200_000 }),
    number: fc.option(fc.nat(1_000_000), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), blocksArbitrary(), (events, range) => {
      const planner = createLogRangePlanner(options);
      for (const { kind, from, size, number } of events) {
        const asked = blocks(from, size);
        if (kind === 'answered') planner.answered(asked, KEY, { logs: number ?? 0, bytes: (number ?? 0) * 600 });
        else if (kind === 'tooManyBlocks') planner.tooManyBlocks(asked, number);
        else
          planner.tooDense(asked, KEY, number === undefined ? {} : { suggestedBlocks: number, limitResults: number });
        if (kind !== 'answered' && size > 1) expect(planner.span(asked, KEY)).toBeLessThan(size);
      }
      const span = planner.span(range, KEY);
      expect(span).toBeGreaterThanOrEqual(1);
      expect(span).toBeLessThanOrEqual(Math.min(rangeSize(range), options.logRangeMax));
    }),
  );
});

test('parts between barriers cover the range and none holds both sides of one', () => {
  fc.assert(
    fc.property(blocksArbitrary(), fc.array(fc.nat(1_200_000), { maxLength: 5 }), (range, barriers) => {
      const parts = splitAtBarriers(range, barriers);
      expect(parts[0]?.from).toBe(range.from);
      expect(parts.at(-1)?.to).toBe(range.to);
      parts.forEach((part, index) => {
        if (index > 0) expect(part.from).toBe((parts[index - 1]?.to ?? 0) + 1);
        for (const barrier of barriers) expect(part.from < barrier && barrier <= part.to).toBe(false);
      });
    }),
  );
});

function blocksArbitrary(): fc.Arbitrary<{ from: number; to: number }> {
  return fc.tuple(fc.nat(1_000_000), fc.integer({ min: 1, max: 200_000 })).map(([from, count]) => blocks(from, count));
}
