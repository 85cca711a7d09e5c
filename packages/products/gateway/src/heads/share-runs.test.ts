import { expect, test } from 'vitest';
import { shareRuns } from './head-store.ts';

test('everybody gets a run that began after the ask, and at most one runs at a time', async () => {
  const ends: (() => void)[] = [];
  let began = 0;
  const ask = shareRuns(async () => {
    const number = ++began;
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.push(resolve);
    await promise;
    return number;
  });
  const first = ask();
  const second = ask();
  const third = ask();
  expect(began).toBe(1);
  ends[0]?.();
  expect(await first).toBe(1);
  await expect.poll(() => began).toBe(2);
  const fourth = ask();
  ends[1]?.();
  expect(await Promise.all([second, third])).toEqual([2, 2]);
  await expect.poll(() => began).toBe(3);
  ends[2]?.();
  expect(await fourth).toBe(3);
});

test('a run that fails fails for those who wait for it, and the next one begins', async () => {
  let began = 0;
  const ask = shareRuns(async () => {
    began++;
    if (began === 1) throw new Error('first');
    return began;
  });
  const failing = ask();
  const waiting = ask();
  await expect(failing).rejects.toThrow('first');
  expect(await waiting).toBe(2);
  expect(await ask()).toBe(3);
});
