import { rangeSize } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLogRangePlanner, splitAtBarriers } from './log-range-planner.ts';

const KIND = { key: 'transfers', start: 200 };
const options = { logRangeMax: 100_000, targetBytes: 1_000_000 };

function blocks(from: number, count: number): { from: number; to: number } {
  return { from, to: from + count - 1 };
}

describe('a structural cap', () => {
  test('that was told is kept for every span and query', () => {
    const kind = { ...KIND, start: 50_000 };
    const planner = createLogRangePlanner(options);
    planner.tooManyBlocks(blocks(0, 50_000), 10_000);
    expect(planner.cap).toBe(10_000);
    expect(planner.span(blocks(0, 50_000), kind)).toBe(10_000);
    expect(planner.span(blocks(9_000_000, 50_000), { ...kind, key: 'another' })).toBe(10_000);
  });

  test('that was not told is found between what works and what was refused', () => {
    const truth = 3_300;
    const kind = { ...KIND, start: 100_000 };
    const planner = createLogRangePlanner(options);
    let refusals = 0;
    for (let call = 0; call < 200; call++) {
      const range = blocks(0, planner.span(blocks(0, 100_000), kind));
      if (rangeSize(range) > truth) {
        planner.tooManyBlocks(range, undefined);
        refusals++;
      } else planner.answered(range, kind, { logs: 0, bytes: 40 });
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
  test('shrinks its own span, and grows back', () => {
    const kind = { ...KIND, start: 1_000 };
    const planner = createLogRangePlanner(options);
    planner.answered(blocks(10_000_000, 1_000), kind, { logs: 1, bytes: 100 });
    planner.tooDense(blocks(0, 1_000), kind);
    expect(planner.span(blocks(0, 1_000), kind)).toBe(500);
    expect(planner.span(blocks(10_000_000, 9_000), kind)).toBe(4_000);
    planner.answered(blocks(0, 500), kind, { logs: 10, bytes: 1_000 });
    expect(planner.span(blocks(500, 9_000), kind)).toBe(2_000);
  });

  test('takes the suggested size', () => {
    const planner = createLogRangePlanner(options);
    planner.tooDense(blocks(0, 200), KIND, { suggestedBlocks: 22 });
    expect(planner.span(blocks(0, 200), KIND)).toBe(22);
  });

  test('halves where the suggestion equals the request', () => {
    const planner = createLogRangePlanner(options);
    planner.tooDense(blocks(0, 200), KIND, { suggestedBlocks: 200 });
    expect(planner.span(blocks(0, 200), KIND)).toBe(100);
  });

  test('keeps answers below a known cap of results', () => {
    const planner = createLogRangePlanner(options);
    planner.tooDense(blocks(0, 200), KIND, { limitResults: 10_000 });
    planner.answered(blocks(0, 100), KIND, { logs: 9_900, bytes: 10 });
    expect(planner.span(blocks(100, 1_000), KIND)).toBe(70);
  });

  test('keeps answers near the size aimed at', () => {
    const planner = createLogRangePlanner(options);
    planner.answered(blocks(0, 200), KIND, { logs: 8_000, bytes: 4_000_000 });
    expect(planner.span(blocks(200, 1_000), KIND)).toBe(50);
  });

  test('of one query says nothing of another', () => {
    const planner = createLogRangePlanner(options);
    planner.tooDense(blocks(0, 200), KIND);
    expect(planner.span(blocks(0, 200), { ...KIND, key: 'one address' })).toBe(200);
  });
});

describe('an estimate', () => {
  const wide = { key: 'of a wallet', start: 10_000 };

  test('of an upstream of which nothing is known grows as answers would', () => {
    const planner = createLogRangePlanner(options);
    const range = blocks(0, 1_000_000);
    let calls = 0;
    for (let from = 0; from <= range.to; calls++) {
      const span = planner.span({ from, to: range.to }, wide);
      planner.answered(blocks(from, span), wide, { logs: 0, bytes: 40 });
      from += span;
    }
    const fresh = createLogRangePlanner(options);
    expect(fresh.calls(range, wide)).toBeGreaterThan(calls - 2);
    expect(fresh.calls(range, wide)).toBeLessThan(calls + 2);
  });

  test('keeps to a cap that was learnt', () => {
    const planner = createLogRangePlanner(options);
    planner.tooManyBlocks(blocks(0, 10_000), 500);
    expect(planner.calls(blocks(0, 1_000_000), wide)).toBeCloseTo(2_000);
  });

  test('begins as narrow as a dense span has taught', () => {
    const planner = createLogRangePlanner(options);
    planner.tooDense(blocks(0, 10_000), wide, { suggestedBlocks: 10 });
    expect(planner.calls(blocks(0, 50), wide)).toBeCloseTo(2);
    expect(planner.calls(blocks(0, 40_000), wide)).toBeGreaterThan(
      createLogRangePlanner(options).calls(blocks(0, 40_000), wide),
    );
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
        const requested = blocks(from, size);
        if (kind === 'answered')
          planner.answered(requested, KIND, { logs: number ?? 0, bytes: (number ?? 0) * 600 });
        else if (kind === 'tooManyBlocks') planner.tooManyBlocks(requested, number);
        else
          planner.tooDense(
            requested,
            KIND,
            number === undefined ? {} : { suggestedBlocks: number, limitResults: number },
          );
        if (kind !== 'answered' && size > 1) expect(planner.span(requested, KIND)).toBeLessThan(size);
      }
      const span = planner.span(range, KIND);
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
  return fc
    .tuple(fc.nat(1_000_000), fc.integer({ min: 1, max: 200_000 }))
    .map(([from, count]) => blocks(from, count));
}
