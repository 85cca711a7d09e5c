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
  return { trial: { clock, signal, send, callsMax: 1_300, until: 72_500 }, calls: () => calls };
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

/** By fixed windows, as a counter with an expiry. */
function byWindow(perSecond: number, seconds: number) {
  let [window, calls] = [-1, 0];
  return (now: number): boolean => {
    const current = Math.floor(now / 1_000 / seconds);
    if (current !== window) [window, calls] = [current, 0];
    calls += 1;
    return calls <= perSecond * seconds;
  };
}

/** By the calls of the last seconds. */
function bySlidingWindow(perSecond: number, seconds: number) {
  const accepted: number[] = [];
  return (now: number): boolean => {
    while ((accepted[0] ?? now) <= now - seconds * 1_000) accepted.shift();
    if (accepted.length >= perSecond * seconds) return false;
    accepted.push(now);
    return true;
  };
}

/** The node has run for this time when the check starts. */
function later(ms: number, accepts: (now: number) => boolean) {
  return (now: number): boolean => accepts(now + ms);
}

/** Moves to the next wake-up once nothing else runs. */
function createVirtualClock(): Clock {
  let now = 500;
  const sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  const wakeNext = (): void => {
    sleepers.sort((one, other) => one.at - other.at);
    const next = sleepers.shift();
    if (next === undefined) return;
    now = next.at;
    next.wake();
  };
  return {
    now: () => now,
    sleep: (ms) =>
      new Promise((wake) => {
        sleepers.push({ at: now + ms, wake });
        setImmediate(wakeNext);
      }),
  };
}

describe('a measured rate', () => {
  test.each(
    [5, 10, 20, 50, 100, 200].flatMap((limit) => [
      { kind: 'a full bucket', limit, accepts: bucket(limit, Math.min(limit, 150)) },
      { kind: 'a bucket of half a second', limit, accepts: bucket(limit, Math.max(1, limit / 2)) },
      { kind: 'a bucket of 500 calls', limit, accepts: bucket(limit, 500) },
      { kind: 'a count by the second', limit, accepts: byWindow(limit, 1) },
      {
        kind: 'a count by three seconds',
        limit: Math.min(limit, 100),
        accepts: byWindow(Math.min(limit, 100), 3),
      },
      { kind: 'a count by ten seconds', limit: Math.min(limit, 50), accepts: byWindow(Math.min(limit, 50), 10) },
      { kind: 'a sliding second', limit, accepts: bySlidingWindow(limit, 1) },
      {
        kind: 'ten sliding seconds',
        limit: Math.min(limit, 50),
        accepts: bySlidingWindow(Math.min(limit, 50), 10),
      },
    ]),
  )('is within 20 % of $limit calls per second by $kind', async ({ limit, accepts }) => {
    const { trial, calls } = createNode(accepts);
    const { perSecond } = await measureRate(trial);
    expect(perSecond).toBeGreaterThanOrEqual(limit * 0.8);
    expect(perSecond).toBeLessThanOrEqual(limit * 1.2);
    // 2,300 of CALLS_MAX are left for the other checks.
    expect(calls()).toBeLessThan(2_700);
  });

  test('of a node that refuses nothing is unknown after a burst', async () => {
    const { trial, calls } = createNode(() => true);
    expect(await measureRate(trial)).toMatchObject({ perSecond: null, concurrent: null, calls: 1_324 });
    expect(calls()).toBe(1_324);
  });

  test.each(
    [300, 600, 1_200].flatMap((limit) => [
      { kind: 'a count from the first call', limit, accepts: byWindow(limit / 60, 60) },
      { kind: 'a count that ends after 7 seconds', limit, accepts: later(53_000, byWindow(limit / 60, 60)) },
      { kind: 'a count that ends after 35 seconds', limit, accepts: later(25_000, byWindow(limit / 60, 60)) },
      { kind: 'a sliding minute', limit, accepts: bySlidingWindow(limit / 60, 60) },
      { kind: 'a bucket of a minute', limit, accepts: bucket(limit / 60, limit) },
    ]),
  )('is within 20 % of $limit calls a minute by $kind', async ({ limit, accepts }) => {
    const { trial, calls } = createNode(accepts);
    const { perSecond } = await measureRate(trial);
    expect(perSecond).toBeGreaterThanOrEqual((limit / 60) * 0.8);
    expect(perSecond).toBeLessThanOrEqual((limit / 60) * 1.2);
    expect(calls()).toBeLessThan(3_700);
  });

  test('of a node that stays silent is that of a minute', async () => {
    let calls = 0;
    const { trial } = createNode(() => ++calls <= 80);
    const { perSecond } = await measureRate(trial);
    expect(perSecond).toBeGreaterThan(80 / 74);
    expect(perSecond).toBeLessThanOrEqual(80 / 60);
  });

  test('waits as long as a refusal requests', async () => {
    const { trial, calls } = createNode(byWindow(10, 60));
    const { perSecond } = await measureRate({ ...trial, retryAfterMs: () => 60_000 });
    expect(perSecond).toBeCloseTo(10, 0);
    expect(calls()).toBeLessThan(1_300);
  });

  test.each([
    { limit: 3, tookMs: 40 },
    { limit: 10, tookMs: 100 },
    { limit: 20, tookMs: 300 },
  ])('of $limit concurrent calls of $tookMs ms is no rate', async ({ limit, tookMs }) => {
    const clock = createVirtualClock();
    let inFlight = 0;
    const send = async (): Promise<boolean> => {
      if (inFlight >= limit) return false;
      inFlight += 1;
      await clock.sleep(tookMs);
      inFlight -= 1;
      return true;
    };
    const measured = await measureRate({ clock, signal, send, callsMax: 1_300, until: 72_500 });
    expect(measured).toMatchObject({ concurrent: limit, perSecond: null });
  });

  test('of a slow node that refuses nothing is unknown after five seconds', async () => {
    const { trial } = createNode(() => true);
    const send = async (): Promise<boolean> => {
      await trial.clock.sleep(5, signal);
      return true;
    };
    const { perSecond, calls } = await measureRate({ ...trial, send });
    expect([perSecond, calls <= 1_048]).toEqual([null, true]);
  });
});
