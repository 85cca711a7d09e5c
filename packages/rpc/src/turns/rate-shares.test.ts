import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { URGENCIES, type Urgency } from './call-turns.ts';
import type { Claim } from './claims.ts';
import { createRateShares } from './rate-shares.ts';

function claimOf(group: string, asked: Partial<Record<Urgency, number>> = {}): Claim {
  return { group, asked: { urgent: 0, normal: 0, ahead: 0, ...asked } };
}

describe('shares of a rate', () => {
  test('a burst goes at once, then the rate holds', () => {
    const shares = createRateShares(10);
    const claim = claimOf('one', { normal: 12 });
    shares.add(claim);
    expect(shares.grant(0).get(claim)).toBe(10);
    expect(shares.waitMs(0)).toBe(100);
    expect(shares.grant(99).size).toBe(0);
    expect(shares.grant(100).get(claim)).toBe(1);
    expect(shares.grant(5_000).get(claim)).toBe(1);
    expect(shares.waitMs(5_000)).toBeNull();
  });

  test('what is urgent goes before what waits, and that before what is asked for ahead', () => {
    const shares = createRateShares(3);
    const [ahead, normal, urgent] = [
      claimOf('api', { ahead: 5 }),
      claimOf('worker', { normal: 2 }),
      claimOf('ingest', { urgent: 2 }),
    ];
    for (const claim of [ahead, normal, urgent]) shares.add(claim);
    expect(shares.grant(0)).toEqual(
      new Map([
        [urgent, 2],
        [normal, 1],
      ]),
    );
    expect(shares.grant(1_000)).toEqual(
      new Map([
        [normal, 1],
        [ahead, 2],
      ]),
    );
  });

  test('what waits gets a turn in four, however much is urgent', () => {
    const shares = createRateShares(40);
    const [urgent, normal] = [claimOf('ingest', { urgent: 1_000 }), claimOf('api', { normal: 1_000 })];
    shares.add(urgent);
    shares.add(normal);
    expect(Object.fromEntries([...shares.grant(0)].map(([{ group }, calls]) => [group, calls]))).toEqual({
      ingest: 30,
      api: 10,
    });
  });

  test('roles have the same share, however many processes one has, and its processes share alike', () => {
    const shares = createRateShares(30);
    const api = Array.from({ length: 5 }, () => claimOf('api', { normal: 1_000 }));
    const ingest = claimOf('ingest', { normal: 1_000 });
    const worker = claimOf('worker', { normal: 1_000 });
    for (const claim of [...api, ingest, worker]) shares.add(claim);
    const granted = shares.grant(0);
    expect(granted.get(ingest)).toBe(10);
    expect(granted.get(worker)).toBe(10);
    expect(api.map((claim) => granted.get(claim))).toEqual([2, 2, 2, 2, 2]);
  });

  test('who has left is granted nothing, and what is given back goes to others', () => {
    const shares = createRateShares(4);
    const [gone, left] = [claimOf('one', { normal: 9 }), claimOf('other', { normal: 9 })];
    shares.add(gone);
    shares.add(left);
    expect(shares.grant(0).size).toBe(2);
    shares.remove(gone);
    shares.giveBack(2, 0);
    expect([...shares.grant(0)]).toEqual([[left, 2]]);
  });

  test('over any time, no more is granted than burst and rate allow and was given back, nor more than was asked', () => {
    const step = fc.record({
      after: fc.nat(500),
      by: fc.nat(3),
      urgency: fc.constantFrom(...URGENCIES),
      asked: fc.nat(20),
      returned: fc.nat(2),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), fc.integer({ min: 1, max: 60 }), (steps, rate) => {
        const shares = createRateShares(rate);
        const claims = ['a', 'a', 'b', 'c'].map((group) => claimOf(group));
        for (const claim of claims) shares.add(claim);
        let [now, asked, granted, returned] = [0, 0, 0, 0];
        for (const given of steps) {
          now += given.after;
          const claim = claims[given.by];
          if (claim === undefined) continue;
          claim.asked[given.urgency] += given.asked;
          asked += given.asked;
          const back = Math.min(given.returned, granted - returned);
          shares.giveBack(back, now);
          returned += back;
          for (const calls of shares.grant(now).values()) granted += calls;
          expect(granted - returned).toBeLessThanOrEqual(rate + (rate * now) / 1_000 + 1e-6);
          expect(granted).toBeLessThanOrEqual(asked);
          const wait = shares.waitMs(now);
          expect(wait === null).toBe(granted === asked);
          if (wait === null) continue;
          now += wait + 0.001;
          const later = [...shares.grant(now).values()];
          expect(later.length).toBeGreaterThan(0);
          for (const calls of later) granted += calls;
        }
      }),
    );
  });
});
