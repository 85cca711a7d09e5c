import { expect, it } from 'vitest';
import { readAhead, type Turn } from './read-ahead.ts';

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

it('goes on to blocks that it is told of while others are read, and says when that comes too late', async () => {
  const begun: number[] = [];
  const third = Promise.withResolvers<number>();
  const blocks = readAhead({ from: 1, to: 2 }, 4, (number) => {
    begun.push(number);
    return number === 2 ? third.promise : Promise.resolve(number);
  });
  const seen: number[] = [];
  for await (const value of blocks) {
    seen.push(value);
    if (value !== 1) continue;
    // The new reads begin before the running second one ends.
    expect(blocks.extend(7)).toBe(true);
    expect(blocks.extend(3)).toBe(true);
    expect(begun).toEqual([1, 2, 3, 4, 5]);
    third.resolve(2);
  }
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(blocks.extend(9)).toBe(false);
  expect(begun).toHaveLength(7);
});

it('begins nothing more for whoever has left', async () => {
  const begun: number[] = [];
  const blocks = readAhead({ from: 1, to: 9 }, 2, async (number) => begun.push(number));
  for await (const value of blocks) if (value === 1) break;
  const left = begun.length;
  expect(blocks.extend(20)).toBe(false);
  expect(begun).toHaveLength(left);
});

it('lets a read wait until all earlier values were taken, and says when its own was processed', async () => {
  const events: string[] = [];
  const read = async (number: number, turn: Turn): Promise<number> => {
    if (number % 2 === 1) return number;
    await turn.isNext;
    events.push(`read ${number}`);
    turn.afterwards(() => events.push(`end ${number}`));
    return number;
  };
  for await (const value of readAhead({ from: 1, to: 4 }, 4, read)) events.push(`take ${value}`);
  expect(events.filter((event) => !/[13]/.test(event))).toEqual([
    ...['read 2', 'take 2', 'end 2'],
    ...['read 4', 'take 4', 'end 4'],
  ]);
  expect(events.indexOf('read 4')).toBeGreaterThan(events.indexOf('take 2'));
});

it('ends the turn of a value whose caller has left', async () => {
  let ended = 0;
  const blocks = readAhead({ from: 1, to: 9 }, 2, async (number, turn) => {
    turn.afterwards(() => ended++);
    return number;
  });
  for await (const value of blocks) if (value === 3) break;
  expect(ended).toBe(5);
});
