import { expect, test } from 'vitest';
import { findMethod, METHOD_NAMES } from './method-table.ts';
import { BLOCK_NUMBER, NEWEST_BLOCK, RECEIPTS_BLOCK, STATE_BLOCK } from './parameters.ts';

const BLOCKS = new Set([BLOCK_NUMBER, NEWEST_BLOCK, RECEIPTS_BLOCK, STATE_BLOCK]);

// This position selects the cache entry and an upstream that has the block.
test.each(METHOD_NAMES)('the block of %s is the parameter that names one', (name) => {
  const method = findMethod(name);
  const place = method?.parameters.findIndex((parameter) => BLOCKS.has(parameter)) ?? -1;
  expect(method?.blockParameter).toBe(place < 0 ? null : place);
});
