import { describe, expect, it } from 'vitest';
import { sleepUnlessAborted, systemClock } from './clock.ts';

describe('systemClock.sleep', () => {
  it('resolves after the time given', async () => {
    const before = performance.now();
    await systemClock.sleep(20);
    expect(performance.now() - before).toBeGreaterThanOrEqual(18);
  });

  it('rejects with the reason when aborted before or meanwhile', async () => {
    const reason = new Error('shutting down');
    await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const sleeping = systemClock.sleep(60_000, controller.signal);
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });
});

describe('sleepUnlessAborted', () => {
  it('resolves after the time given', async () => {
    const before = performance.now();
    await sleepUnlessAborted(systemClock, 20, new AbortController().signal);
    expect(performance.now() - before).toBeGreaterThanOrEqual(18);
  });

  it('resolves when aborted before or meanwhile', async () => {
    await sleepUnlessAborted(systemClock, 2 ** 30, AbortSignal.abort(new Error('shutting down')));
    const controller = new AbortController();
    const sleeping = sleepUnlessAborted(systemClock, 2 ** 30, controller.signal);
    controller.abort(new Error('shutting down'));
    await expect(sleeping).resolves.toBeUndefined();
  });

  it('passes on what is not the abort', async () => {
    const clock = { sleep: () => Promise.reject(new Error('no timer')) };
    await expect(sleepUnlessAborted(clock, 1, new AbortController().signal)).rejects.toThrow('no timer');
  });
});
