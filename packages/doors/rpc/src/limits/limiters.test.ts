import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CallRank } from './call-limits.ts';
import { createCallSlots, createTokenBucket } from './limiters.ts';

const clock = { now: () => Date.now() };
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Adds a name to the list when the promise resolves; immediately for null. */
async function note(list: string[], name: string, turn: Promise<void> | null): Promise<void> {
  await turn;
  list.push(name);
}

describe('a token bucket', () => {
  test('lets a burst go, then calls at the rate, the head first, then blocks near it', async () => {
    const bucket = createTokenBucket({ share: 2, clock });
    const order: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) void note(order, name, bucket.take(1, {}));
    void note(order, 'follow', bucket.take(1, { rank: 'follow' }));
    void note(order, 'head', bucket.take(1, { rank: 'head' }));
    await vi.advanceTimersByTimeAsync(499);
    expect(order).toEqual(['a', 'b']);
    expect(bucket.waiting).toBe(4);
    await vi.advanceTimersByTimeAsync(1);
    expect(order).toEqual(['a', 'b', 'head']);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(order).toEqual(['a', 'b', 'head', 'follow', 'c', 'd']);
    expect(bucket.waiting).toBe(0);
  });

  test('lets one historical call of four go, however many others wait', async () => {
    const bucket = createTokenBucket({ share: 1, clock });
    const order: string[] = [];
    void bucket.take(1, {});
    for (let call = 0; call < 2; call += 1) void note(order, 'normal', bucket.take(1, {}));
    for (let call = 0; call < 6; call += 1) void note(order, 'follow', bucket.take(1, { rank: 'follow' }));
    await vi.advanceTimersByTimeAsync(8_000);
    expect(order.join(' ')).toBe('follow follow follow normal follow follow follow normal');
  });

  test('lets blocks near the head go between polls of the head', async () => {
    const bucket = createTokenBucket({ share: 1, clock });
    const order: string[] = [];
    void bucket.take(1, {});
    for (let call = 0; call < 3; call += 1) void note(order, 'head', bucket.take(1, { rank: 'head' }));
    for (let call = 0; call < 3; call += 1) void note(order, 'follow', bucket.take(1, { rank: 'follow' }));
    await vi.advanceTimersByTimeAsync(6_000);
    expect(order.join(' ')).toBe('head follow head follow head follow');
  });

  test('goes into debt for a batch larger than its burst, and pays it off', async () => {
    const bucket = createTokenBucket({ share: 5, clock });
    const order: string[] = [];
    expect(bucket.take(12, {})).toBeNull();
    expect(bucket.wanted()).toBe(19);
    void note(order, 'next', bucket.take(1, {}));
    await vi.advanceTimersByTimeAsync(1_599);
    expect(order).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(order).toEqual(['next']);
  });

  test('keeps the process alive while a call waits', () => {
    const program = `
      import { createTokenBucket } from ${JSON.stringify(new URL('limiters.ts', import.meta.url).href)};
      const bucket = createTokenBucket({ share: 20, clock: Date });
      bucket.take(20, {});
      await bucket.take(1, {});
      console.log('gone');`;
    const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
    expect([status, String(stdout)]).toEqual([0, 'gone\n']);
  });

  test('serves those behind a call that gives up', async () => {
    const bucket = createTokenBucket({ share: 10, clock });
    const aborting = new AbortController();
    const order: string[] = [];
    void bucket.take(9, {});
    const given = bucket.take(5, { signal: aborting.signal });
    void note(order, 'next', bucket.take(1, {}));
    await vi.advanceTimersByTimeAsync(0);
    // One call doesn't overtake five.
    expect(order).toEqual([]);
    aborting.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    expect(order).toEqual(['next']);
    await expect(bucket.take(1, { signal: aborting.signal })).rejects.toThrow('given up');
  });

  test('never lets more go than its shares allow, and lets everybody go in the end', async () => {
    const step = fc.record({
      calls: fc.integer({ min: 1, max: 6 }),
      rank: fc.constantFrom<CallRank>('head', 'follow', 'history'),
      isGivenUp: fc.boolean(),
      share: fc.option(fc.integer({ min: 1, max: 100 }), { freq: 5 }),
      after: fc.constantFrom(0, 0, 3, 40, 400),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 100 }),
        async (steps, first) => {
          const bucket = createTokenBucket({ share: first, clock });
          const turns: Promise<void>[] = [];
          let [allowed, passed, share] = [first, 0, first];
          for (const { calls, rank, isGivenUp, after, ...given } of steps) {
            share = given.share ?? share;
            bucket.setShare(share);
            const aborting = new AbortController();
            const count = async (turn: Promise<void> | null): Promise<void> => {
              await turn;
              passed += calls;
            };
            const turn = bucket.take(calls, { rank, signal: aborting.signal });
            turns.push(count(turn).catch((error) => expect(error).toBe(aborting.signal.reason)));
            if (isGivenUp) aborting.abort(new Error('given up'));
            await vi.advanceTimersByTimeAsync(after);
            allowed += (share * after) / 1_000;
            // A batch of six may exceed the burst of a share of one by five.
            expect(passed).toBeLessThanOrEqual(allowed + 5 + 1e-6);
          }
          await vi.advanceTimersByTimeAsync(300_000);
          expect(bucket.waiting).toBe(0);
          await Promise.all(turns);
        },
      ),
    );
  });
});

describe('slots', () => {
  test.each([
    [3, 3],
    [4, 3],
    [16, 14],
  ])('of a share of %i, %i are for historical calls', async (share, normal) => {
    const slots = createCallSlots({ share });
    const order: string[] = [];
    for (let call = 0; call < share; call += 1) void note(order, 'normal', slots.take(1, {}));
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toHaveLength(normal);
    for (let call = 0; call < share; call += 1) void note(order, 'follow', slots.take(1, { rank: 'follow' }));
    await vi.advanceTimersByTimeAsync(0);
    expect(order.slice(normal)).toEqual(Array.from({ length: share - normal }, () => 'follow'));
    slots.leave();
    await vi.advanceTimersByTimeAsync(0);
    expect(order.slice(share)).toEqual(['follow']);
  });

  test('above a reduced share are held until their requests end', () => {
    const onChange = vi.fn();
    const slots = createCallSlots({ share: 3, onChange });
    for (let call = 0; call < 3; call += 1) expect(slots.take(1, {})).toBeNull();
    slots.setShare(1);
    const held = [slots.held()];
    for (let call = 0; call < 3; call += 1) {
      slots.leave();
      held.push(slots.held());
    }
    expect(held).toEqual([3, 2, 1, 1]);
    expect(onChange).toHaveBeenCalledTimes(2);
    expect(slots.wanted()).toBe(0);
  });
});
