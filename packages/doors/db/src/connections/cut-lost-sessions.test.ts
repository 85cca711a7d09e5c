import { expect, test } from 'vitest';
import { lostWith } from './open-pool.ts';

const [idle, waiting] = [{ name: 'idle' }, { name: 'waiting' }];

test('connections whose sessions ended are not lost unless somebody waits for one of them', () => {
  expect(lostWith([idle], (client) => client === waiting)).toEqual([]);
  expect(lostWith([idle, waiting], (client) => client === waiting)).toEqual([idle, waiting]);
  expect(lostWith([], () => true)).toEqual([]);
});
