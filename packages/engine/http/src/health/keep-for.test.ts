import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepFor } from './system-routes.ts';

// Time advances only on the test's request, however slow the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('asks once for all who ask at the same time, and again when the time is over', async () => {
  let requested = 0;
  const read = keepFor(50, async () => {
    requested += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return requested;
  });
  expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
  vi.advanceTimersByTime(49);
  expect(await read()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await read()).toBe(2);
});

test('keeps a failure for a second at most, however long else is kept', async () => {
  let fails = true;
  const read = keepFor(3_600_000, async () => {
    if (fails) throw new Error('away');
    return 'there';
  });
  await expect(read()).rejects.toThrow('away');
  fails = false;
  vi.advanceTimersByTime(999);
  await expect(read()).rejects.toThrow('away');
  vi.advanceTimersByTime(1);
  expect(await read()).toBe('there');
});
