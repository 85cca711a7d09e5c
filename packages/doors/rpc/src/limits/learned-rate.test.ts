import { describe, expect, test } from 'vitest';
import { rateAt, refusedRate } from './learned-pace.ts';

const SECOND = 1_000;

describe('a learned rate', () => {
  test('of a process that yields is half of what the upstream accepted', () => {
    expect(refusedRate(null, { accepted: 20, now: 0, yields: true }).ceiling).toBe(10);
    const learned = refusedRate(null, { accepted: 20, now: 0 });
    expect(refusedRate(learned, { accepted: 8, now: 60_000, yields: true }).ceiling).toBe(5);
  });

  test('returns to its ceiling, stays there, grows and is forgotten', () => {
    const learned = refusedRate(refusedRate(null, { accepted: 20, now: 0 }), { accepted: 20, now: 30_000 });
    const rates = [0, 15, 30, 60, 90, 180].map((seconds) =>
      Math.round(rateAt(learned, (30 + seconds) * SECOND) ?? 0),
    );
    expect(rates[0]).toBeLessThan(rates[1] ?? 0);
    expect(rates).toEqual([...rates].sort((a, b) => a - b));
    expect(rateAt(learned, 30 * 60 * SECOND)).toBeNull();
  });
});
