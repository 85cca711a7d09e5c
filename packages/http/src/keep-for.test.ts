import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { keepFor } from './keep-for.ts';

test('asks once for all who ask at the same time, and again when the time is over', async () => {
  let asked = 0;
  const read = keepFor(50, async () => {
    asked += 1;
    await sleep(5);
    return asked;
  });
  expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
  expect(await read()).toBe(1);
  await sleep(80);
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
  await expect(read()).rejects.toThrow('away');
  await sleep(1_100);
  expect(await read()).toBe('there');
});
