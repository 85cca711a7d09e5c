import { describe, expect, test } from 'vitest';
import { rateAt, refusedRate } from './learned-rate.ts';

const SECOND = 1_000;

/** Runs a client that always uses its whole rate against a token bucket, for `minutes` of a virtual clock. */
function run(limit: number, cost: number, minutes: number) {
  const STEP = 10;
  let learned: ReturnType<typeof refusedRate> | null = null;
  let tokens = limit;
  let allowance = 0;
  let [sent, refused, accepted] = [0, 0, 0];
  let thisSecond = 0;
  let most = 0;
  for (let now = 0; now < minutes * 60 * SECOND; now += STEP) {
    if (now % SECOND === 0) {
      most = thisSecond;
      thisSecond = 0;
    }
    tokens = Math.min(limit, tokens + (limit * STEP) / SECOND);
    const rate: number | null = learned === null ? 500 : rateAt(learned, now);
    allowance = Math.min(Math.max(cost, (rate ?? 500) / 4), allowance + ((rate ?? 500) * STEP) / SECOND);
    for (; allowance >= cost; allowance -= cost) {
      if (now >= 60 * SECOND) sent += cost;
      if (tokens >= cost) {
        tokens -= cost;
        thisSecond += cost;
        if (now >= 60 * SECOND) accepted += cost;
        continue;
      }
      if (now >= 60 * SECOND) refused += cost;
      if (learned === null || now - learned.refusedAt >= SECOND)
        learned = refusedRate(learned, { accepted: Math.max(most, thisSecond), now });
      allowance = 0;
      break;
    }
  }
  return { refusedPart: refused / sent, usedPart: accepted / (limit * (minutes - 1) * 60) };
}

describe('a learned rate', () => {
  test.each([
    [2, 1],
    [5, 1],
    [5, 2],
    [20, 1],
    [20, 8],
    [100, 1],
    [100, 40],
  ])('of a limit of %i, with batches of %i, is refused for at most 2 %% and uses half of it', (limit, cost) => {
    const { refusedPart, usedPart } = run(limit, cost, 15);
    expect(refusedPart).toBeLessThanOrEqual(0.02);
    expect(usedPart).toBeGreaterThan(0.5);
  });

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
