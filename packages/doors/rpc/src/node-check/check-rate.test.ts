import type { Clock } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import { measureRate } from './check-rate.ts';

const signal = new AbortController().signal;

/** A node and a clock that only moves during a wait. */
function createNode(accepts: (now: number) => boolean) {
  let now = 500;
  let calls = 0;
  const clock: Clock = {
    now: () => now,
    sleep: async (ms) => {
      now += ms;
      // Answers come first.
      await new Promise(setImmediate);
    },
  };
  const send = async (): Promise<boolean> => {
    calls += 1;
    return accepts(now);
  };
  return { trial: { clock, signal, send, callsMax: 200, until: 60_000 }, calls: () => calls };
}

function bucket(perSecond: number, burst: number) {
  let [tokens, at] = [burst, 0];
  return (now: number): boolean => {
    tokens = Math.min(burst, tokens + ((now - at) / 1_000) * perSecond);
    at = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

function bySecond(perSecond: number) {
  let [second, calls] = [-1, 0];
  return (now: number): boolean => {
    if (Math.floor(now / 1_000) !== second) [second, calls] = [Math.floor(now / 1_000), 0];
    calls += 1;
    return calls <= perSecond;
  };
}

describe('a measured rate', () => {
  test.each(
    [5, 20, 100].flatMap((limit) => [
      { kind: 'a full bucket', limit, accepts: bucket(limit, limit) },
      { kind: 'a bucket of half a second', limit, accepts: bucket(limit, Math.max(1, limit / 2)) },
      { kind: 'a count by the second', limit, accepts: bySecond(limit) },
    ]),
  )('is within 20 % of $limit calls per second by $kind', async ({ limit, accepts }) => {
    const { trial, calls } = createNode(accepts);
    const { perSecond } = await measureRate(trial);
    expect(perSecond).toBeGreaterThanOrEqual(limit * 0.8);
    expect(perSecond).toBeLessThanOrEqual(limit * 1.2);
    expect(calls()).toBeLessThan(30 * limit + 50);
  });

  test('of a node that refuses nothing is unknown after a burst', async () => {
    const { trial, calls } = createNode(() => true);
    expect(await measureRate(trial)).toMatchObject({ perSecond: null, calls: 200 });
    expect(calls()).toBe(200);
  });

  test('of a node that stays silent after its first refusal is that of the burst', async () => {
    let calls = 0;
    const { trial } = createNode(() => ++calls <= 30);
    expect((await measureRate(trial)).perSecond).toBe(30);
  });
});
