import { createSeededRandom } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import type { LearnedPace } from './call-limits.ts';
import { createLearnedPaces } from './learned-pace.ts';

const STEP_MS = 10;
/** What the client wants, and gets from a node without a limit. */
const WANTED = 500;

interface Node {
  /** Calls per second. */
  readonly limit: number;
  /** Part of the calls that the node refuses at any rate. */
  readonly randomPart?: number;
  readonly seed?: number;
}

/** Runs a client that always uses its whole rate against a token bucket, on a virtual clock. The first minute does not count. */
function run({ limit, randomPart = 0, seed = 1 }: Node, cost: number, minutes: number) {
  let now = 0;
  const pace: LearnedPace = createLearnedPaces({ now: () => now })({ url: 'http://node' });
  const random = createSeededRandom(seed);
  let tokens = limit;
  let allowance = 0;
  let [sent, refused, accepted] = [0, 0, 0];
  for (; now < minutes * 60_000; now += STEP_MS) {
    const isCounted = now >= 60_000;
    tokens = Math.min(limit, tokens + (limit * STEP_MS) / 1_000);
    // No calls: only says that this process follows the head.
    void pace.take(0, { rank: 'follow' });
    const rate = pace.perSecond ?? WANTED;
    allowance = Math.min(Math.max(cost, rate / 4), allowance + (rate * STEP_MS) / 1_000);
    for (; allowance >= cost; allowance -= cost) {
      if (isCounted) sent += cost;
      const isRefused = tokens < cost || random.chance(randomPart);
      if (!isRefused) {
        tokens -= cost;
        pace.accepted(cost);
        if (isCounted) accepted += cost;
        continue;
      }
      if (isCounted) refused += cost;
      pace.refused(cost);
      allowance = 0;
      break;
    }
  }
  const possible = Math.min(limit, WANTED) * (minutes - 1) * 60;
  return { refusedPart: refused / sent, usedPart: accepted / possible };
}

describe('a learned pace', () => {
  test.each([
    [2, 1],
    [5, 1],
    [5, 2],
    [20, 1],
    [20, 8],
    [100, 1],
    [100, 40],
  ])(
    'of a limit of %i, with batches of %i, is refused for at most a twentieth and uses half of it',
    (limit, cost) => {
      const { refusedPart, usedPart } = run({ limit }, cost, 15);
      expect(refusedPart).toBeLessThanOrEqual(0.05);
      expect(usedPart).toBeGreaterThan(0.5);
    },
  );

  test('does not fall when a node without a limit refuses 2 % of the calls at random', () => {
    const node = { limit: Number.MAX_SAFE_INTEGER, randomPart: 0.02 };
    for (const seed of [1, 2, 3]) expect(run({ ...node, seed }, 1, 15).usedPart).toBeGreaterThan(0.8);
  });

  test('finds the limit of a node that also refuses 2 % of the calls at random', () => {
    for (const limit of [5, 20, 100]) {
      const { refusedPart, usedPart } = run({ limit, randomPart: 0.02 }, 1, 15);
      expect(refusedPart).toBeLessThanOrEqual(0.07);
      expect(usedPart).toBeGreaterThan(0.4);
    }
  });
});
