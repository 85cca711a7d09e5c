import { describe, expect, it } from 'vitest';
import { systemClock } from './clock.ts';

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
