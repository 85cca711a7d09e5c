import { isDroppable } from '@chainstead/sync/ingest';
import { expect, test } from 'vitest';
import { binChanges, poolCreations, poolStates, swaps } from './datasets.ts';

test('old swaps can be dropped; pools and the states that prices follow from stay', () => {
  expect([swaps, poolStates, binChanges, poolCreations].map(isDroppable)).toEqual([true, false, false, false]);
});
