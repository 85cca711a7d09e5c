import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { waitingAtMost, waitLeft } from './request-wait.ts';

test('work outside of a request does not wait', () => {
  expect(waitLeft()).toBe(0);
});

test('steps of a request share its wait', async () => {
  await waitingAtMost(60_000, async () => {
    const first = waitLeft();
    await setTimeout(5);
    const second = waitLeft();
    expect(first).toBeLessThanOrEqual(60_000);
    expect(second).toBeLessThan(first);
    expect(second).toBeGreaterThan(0);
  });
});

test('nothing is left after the deadline', async () => {
  await waitingAtMost(1, async () => {
    await setTimeout(10);
    expect(waitLeft()).toBe(0);
  });
});

test('an inner wait ends with its work', async () => {
  await waitingAtMost(60_000, async () => {
    expect(await waitingAtMost(0, async () => waitLeft())).toBe(0);
    expect(await waitingAtMost(120_000, async () => waitLeft())).toBeGreaterThan(60_000);
    expect(waitLeft()).toBeGreaterThan(0);
  });
});

test('concurrent requests have their own waits', async () => {
  const [short, long] = await Promise.all([
    waitingAtMost(1_000, async () => waitLeft()),
    waitingAtMost(60_000, async () => waitLeft()),
  ]);
  expect(short).toBeLessThanOrEqual(1_000);
  expect(long).toBeGreaterThan(1_000);
});
