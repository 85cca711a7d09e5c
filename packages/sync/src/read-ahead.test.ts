import { expect, it } from 'vitest';
import { readAhead } from './read-ahead.ts';

it('gives values in order although reads finish out of order, with no more in flight than allowed', async () => {
  let inFlight = 0;
  let most = 0;
  const read = async (number: number): Promise<number> => {
    most = Math.max(most, ++inFlight);
    for (let turn = 0; turn < (number % 3) * 2 + 1; turn++) await Promise.resolve();
    inFlight--;
    return number;
  };
  const seen: number[] = [];
  for await (const value of readAhead({ from: 5, to: 30 }, 4, read)) seen.push(value);
  expect(seen).toEqual(Array.from({ length: 26 }, (_, index) => index + 5));
  expect(most).toBe(4);
});

it('surfaces a failure when its turn comes, after what lies before it', async () => {
  const seen: number[] = [];
  const read = (number: number): Promise<number> =>
    number === 3 ? Promise.reject(new Error('three')) : Promise.resolve(number);
  await expect(async () => {
    for await (const value of readAhead({ from: 1, to: 9 }, 8, read)) seen.push(value);
  }).rejects.toThrow('three');
  expect(seen).toEqual([1, 2]);
});
