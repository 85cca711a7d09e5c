import { systemClock } from '@chainstead/core';
import { describe, expect, test, vi } from 'vitest';
import { createHostLane, type HostLaneOptions } from './host-lane.ts';

const LENGTH = 10;

/** Items whose delivery the test completes, at a fixed time. */
function stage(items: number, changes: Partial<HostLaneOptions<number>> = {}) {
  const waiting = Array.from({ length: items }, (_, index) => index);
  const open = new Map<number, (length: number) => void>();
  const claims: number[] = [];
  const lane = createHostLane<number>({
    claim: async (limit) => {
      claims.push(limit);
      return waiting.splice(0, limit);
    },
    deliver: (item, onTaken) =>
      new Promise((resolve) =>
        open.set(item, (length) => {
          onTaken(length);
          resolve();
        }),
      ),
    putBack: (items) => void waiting.unshift(...items),
    allowance: () => 4,
    isEnding: () => false,
    turnMs: 60_000,
    clock: { ...systemClock, now: () => 0 },
    ...changes,
  });
  const finish = (item: number, length = LENGTH): void => {
    open.get(item)?.(length);
    open.delete(item);
  };
  return { lane, waiting, open, claims, finish, run: lane.run() };
}

describe('a lane', () => {
  test('keeps as many under way as it may, claims more when half of them are done, and ends when all are', async () => {
    const { lane, open, claims, finish, run } = stage(7);
    await vi.waitFor(() => expect(open.size).toBe(4));
    finish(0);
    await vi.waitFor(() => expect(lane.underWay).toBe(3));
    expect(claims).toEqual([4]);
    finish(1);
    await vi.waitFor(() => expect(open.size).toBe(4));
    expect(claims).toEqual([4, 2]);
    for (const item of [2, 3, 4, 5]) finish(item);
    await vi.waitFor(() => expect(open.has(6)).toBe(true));
    finish(6);
    await run;
  });

  test('looks again when it is woken while others hang', async () => {
    const { lane, waiting, open, finish, run } = stage(1);
    await vi.waitFor(() => expect(open.size).toBe(1));
    waiting.push(8, 9);
    lane.wake();
    await vi.waitFor(() => expect([...open.keys()]).toEqual([0, 8, 9]));
    for (const item of [0, 8, 9]) finish(item);
    await run;
  });

  test('claims nothing more when its turn is over or the process ends', async () => {
    let now = 0;
    const late = stage(9, { clock: { ...systemClock, now: () => now }, turnMs: 100 });
    await vi.waitFor(() => expect(late.open.size).toBe(4));
    now = 100;
    for (const item of [0, 1, 2, 3]) late.finish(item);
    await late.run;
    expect(late.waiting).toHaveLength(5);
    const ending = stage(3, { isEnding: () => true });
    await ending.run;
    expect(ending.claims).toEqual([]);
  });

  test('sends what it has when claiming fails, then fails', async () => {
    let claims = 0;
    const { open, finish, run } = stage(0, {
      claim: async () => {
        claims += 1;
        if (claims > 1) throw new Error('database is away');
        return [0, 1, 2, 3];
      },
    });
    const failed = expect(run).rejects.toThrow('database is away');
    await vi.waitFor(() => expect(open.size).toBe(4));
    for (const item of [0, 1, 2]) finish(item);
    await vi.waitFor(() => expect(claims).toBe(2));
    finish(3);
    await failed;
  });

  test('sends the next one when one is answered, and ends when all are recorded', async () => {
    const answered: (() => void)[] = [];
    const recorded: (() => void)[] = [];
    const { lane, run } = stage(5, {
      allowance: () => 1,
      deliver: (_item, onTaken) => {
        answered.push(() => onTaken(LENGTH));
        return new Promise((resolve) => recorded.push(resolve));
      },
    });
    let ended = false;
    void run.then(() => {
      ended = true;
    });
    for (let count = 1; count <= 5; count++) {
      await vi.waitFor(() => expect(answered).toHaveLength(count));
      expect(lane.underWay).toBe(1);
      answered.at(-1)?.();
    }
    await vi.waitFor(() => expect(lane.underWay).toBe(0));
    for (const done of recorded.slice(0, 4)) done();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(false);
    recorded.at(-1)?.();
    await run;
  });

  test('claims ahead for a host that answers quickly, and puts back what has waited for too long', async () => {
    let now = 0;
    const given: number[] = [];
    const { claims, open, finish, run } = stage(40, {
      clock: { ...systemClock, now: () => now },
      putBack: (items) => void given.push(...items),
    });
    await vi.waitFor(() => expect(open.size).toBe(4));
    for (const item of [0, 1, 2, 3]) finish(item);
    await vi.waitFor(() => expect(open.size).toBe(4));
    // A round of four, plus twice as many claimed ahead.
    expect(claims.reduce((sum, limit) => sum + limit, 0)).toBe(4 + 4 + 8);
    // The host hangs, then responds again.
    now = 2_000;
    finish(4);
    await vi.waitFor(() => expect(given).toEqual([8, 9, 10, 11, 12, 13, 14, 15]));
    for (let item = 5; item < 40; item++) {
      if (given.includes(item)) continue;
      await vi.waitFor(() => expect(open.has(item)).toBe(true));
      finish(item);
    }
    await run;
  });

  test('keeps what it has claimed ahead while none of it waits for too long, however long that goes on', async () => {
    let now = 0;
    const given: number[] = [];
    const { waiting, open, finish, run } = stage(3_000, {
      clock: { ...systemClock, now: () => now },
      putBack: (items) => void given.push(...items),
    });
    const ahead: number[] = [];
    for (let item = 0; item < 3_000; item++) {
      await vi.waitFor(() => expect(open.has(item)).toBe(true));
      if (item > 500 && waiting.length > 0) ahead.push(3_000 - waiting.length - item - 4);
      // Some items are always in flight until the three seconds end.
      now += 1;
      finish(item);
    }
    await run;
    expect(given).toEqual([]);
    expect(waiting).toEqual([]);
    // Responses of two 250 ms windows, and half of that before the next claim.
    expect(Math.max(...ahead)).toBeLessThanOrEqual(500);
    expect(Math.min(...ahead)).toBeGreaterThan(200);
  });

  test('claims no more ahead than may lie in memory', async () => {
    const mostAhead = async (length: number): Promise<number> => {
      let sent = 0;
      let most = 0;
      const { waiting, open, finish, run } = stage(3_000);
      for (; sent < 3_000; sent++) {
        await vi.waitFor(() => expect(open.has(sent)).toBe(true));
        most = Math.max(most, 3_000 - waiting.length - sent - 4);
        finish(sent, length);
      }
      await run;
      return most;
    };
    expect(await mostAhead(1_048_576)).toBe(32);
    expect(await mostAhead(10)).toBe(1_000);
  });

  test('puts back what it has claimed ahead when the process ends', async () => {
    let now = 0;
    let ending = false;
    const given: number[] = [];
    const { lane, open, finish, run } = stage(40, {
      clock: { ...systemClock, now: () => now },
      isEnding: () => ending,
      putBack: (items) => void given.push(...items),
    });
    await vi.waitFor(() => expect(open.size).toBe(4));
    now = 250;
    for (const item of [0, 1, 2, 3]) finish(item);
    await vi.waitFor(() => expect(open.size).toBe(4));
    ending = true;
    lane.wake();
    await vi.waitFor(() => expect(given.length).toBeGreaterThan(0));
    expect([...open.keys()].some((item) => given.includes(item))).toBe(false);
    for (const item of [...open.keys()]) finish(item);
    await run;
  });

  test('puts back what it has claimed ahead when one fails, and claims no more than it may send', async () => {
    let now = 0;
    let fails = false;
    const given: number[] = [];
    const settle: (() => void)[] = [];
    const waiting = Array.from({ length: 40 }, (_, index) => index);
    const claims: number[] = [];
    const { run } = stage(0, {
      clock: { ...systemClock, now: () => now },
      claim: async (limit) => {
        claims.push(limit);
        return waiting.splice(0, limit);
      },
      deliver: (_item, onTaken) =>
        new Promise((resolve) =>
          settle.push(() => {
            if (!fails) onTaken(LENGTH);
            resolve();
          }),
        ),
      putBack: (items) => void given.push(...items),
    });
    await vi.waitFor(() => expect(settle).toHaveLength(4));
    now = 250;
    for (const done of settle.splice(0)) done();
    await vi.waitFor(() => expect(settle).toHaveLength(4));
    expect(given).toEqual([]);
    const before = claims.length;
    fails = true;
    settle.shift()?.();
    await vi.waitFor(() => expect(given).not.toEqual([]));
    while (waiting.length > 0 || settle.length > 0) {
      settle.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await run;
    expect(Math.max(...claims.slice(before))).toBeLessThanOrEqual(4);
  });
});
