import { describe, expect, test } from 'vitest';
import type { Outcome } from '../call.ts';
import { createSharedCalls } from './share-calls.ts';

const whole = (text: string): Outcome => ({ ok: true, result: Buffer.from(text), cached: false });

/** Runs whose end the test controls. */
function steeredRuns() {
  const runs: { end: (outcome: Outcome) => void; signal: AbortSignal }[] = [];
  return {
    runs,
    run: (signal: AbortSignal): Promise<Outcome> => {
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      runs.push({ end: resolve, signal });
      return promise;
    },
  };
}

async function* pieces(): AsyncGenerator<Buffer> {
  yield Buffer.from('1');
}

describe('createSharedCalls', () => {
  test('what is asked at the same time runs once, what is asked later runs again', async () => {
    const { runs, run } = steeredRuns();
    const shared = createSharedCalls();
    const first = shared.run({ key: 'a', isFresh: false }, run);
    const second = shared.run({ key: 'a', isFresh: false }, run);
    shared.run({ key: 'b', isFresh: false }, run);
    expect([first.isShared, second.isShared, runs.length]).toEqual([false, true, 2]);
    runs[0]?.end(whole('1'));
    expect(await Promise.all([first.outcome, second.outcome])).toEqual([whole('1'), whole('1')]);
    await expect
      .poll(() => shared.run({ key: 'a', isFresh: false }, run).isShared, { timeout: 30_000 })
      .toBe(true);
    expect(runs.length).toBe(3);
  });

  test('fresh calls share a run that begins after them', async () => {
    const { runs, run } = steeredRuns();
    const shared = createSharedCalls();
    const first = shared.run({ key: 'a', isFresh: true }, run);
    const later = [shared.run({ key: 'a', isFresh: true }, run), shared.run({ key: 'a', isFresh: true }, run)];
    expect(runs.length).toBe(1);
    runs[0]?.end(whole('1'));
    expect(await first.outcome).toEqual(whole('1'));
    await expect.poll(() => runs.length, { timeout: 30_000 }).toBe(2);
    runs[1]?.end(whole('2'));
    expect(await Promise.all(later.map(({ outcome }) => outcome))).toEqual([whole('2'), whole('2')]);
    expect(later.map(({ isShared }) => isShared)).toEqual([false, true]);
  });

  test('who leaves does not end it for the others, the last one does, and nobody joins what was given up', async () => {
    const { runs, run } = steeredRuns();
    const shared = createSharedCalls();
    const [one, other] = [new AbortController(), new AbortController()];
    const left = shared.run({ key: 'a', isFresh: false, signal: one.signal }, run);
    const stays = shared.run({ key: 'a', isFresh: false, signal: other.signal }, run);
    one.abort();
    expect((await left.outcome).ok).toBe(false);
    expect(runs[0]?.signal.aborted).toBe(false);
    other.abort();
    expect((await stays.outcome).ok).toBe(false);
    expect(runs[0]?.signal.aborted).toBe(true);
    expect(shared.run({ key: 'a', isFresh: false }, run).isShared).toBe(false);
    expect(runs.length).toBe(2);
  });

  test('who is gone already runs nothing', async () => {
    const { runs, run } = steeredRuns();
    const shared = createSharedCalls();
    expect((await shared.run({ key: 'a', isFresh: false, signal: AbortSignal.abort() }, run).outcome).ok).toBe(
      false,
    );
    expect(runs.length).toBe(0);
  });

  test('waiting calls that all leave begin no run', async () => {
    const { runs, run } = steeredRuns();
    const shared = createSharedCalls();
    const leaving = new AbortController();
    const first = shared.run({ key: 'a', isFresh: true }, run);
    const second = shared.run({ key: 'a', isFresh: true, signal: leaving.signal }, run);
    leaving.abort();
    await second.outcome;
    runs[0]?.end(whole('1'));
    await first.outcome;
    const next = shared.run({ key: 'a', isFresh: true }, run);
    await expect.poll(() => runs.length, { timeout: 30_000 }).toBe(2);
    runs[1]?.end(whole('2'));
    expect(await next.outcome).toEqual(whole('2'));
  });

  test('an answer in pieces goes to one caller, the others run it themselves; leaving ends its pieces', async () => {
    const { runs, run } = steeredRuns();
    const shared = createSharedCalls();
    const leaving = new AbortController();
    const stream: Outcome = { ok: true, result: pieces(), cached: false };
    const taker = shared.run({ key: 'a', isFresh: false, signal: leaving.signal }, run);
    const other = shared.run({ key: 'a', isFresh: false, signal: new AbortController().signal }, run);
    runs[0]?.end(stream);
    expect(await taker.outcome).toBe(stream);
    await expect.poll(() => runs.length, { timeout: 30_000 }).toBe(2);
    runs[1]?.end(whole('own'));
    expect(await other.outcome).toEqual(whole('own'));
    leaving.abort();
    expect(runs.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });
});
