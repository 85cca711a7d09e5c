import { expect, test } from 'vitest';
import { settlesWithin } from './clock.ts';

test('says whether the work was done before the time ran out', async () => {
  expect(await settlesWithin(Promise.resolve(), 60_000)).toBe(true);
  expect(await settlesWithin(new Promise(() => undefined), 1)).toBe(false);
});

test('fails as the work does', async () => {
  await expect(settlesWithin(Promise.reject(new Error('it broke')), 60_000)).rejects.toThrow('it broke');
});
