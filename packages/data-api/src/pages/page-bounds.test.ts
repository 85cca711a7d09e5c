import { expect, it } from 'vitest';
import { scanBoundsOld } from './page-bounds.ts';

const bounds = { lower: ['number >= 10'], upper: ['number <= 20'] };

it.each([
  ['DESC', bounds, null, { scan: ['number <= 20'], far: ['number >= 10'] }],
  ['ASC', bounds, null, { scan: ['number >= 10'], far: ['number <= 20'] }],
  ['DESC', bounds, ['number < 15'], { scan: ['number < 15'], far: ['number >= 10'] }],
  ['ASC', bounds, ['number > 15'], { scan: ['number > 15'], far: ['number <= 20'] }],
  ['DESC', { ...bounds, upper: [] }, null, { scan: ['number >= 10'], far: ['number >= 10'] }],
  ['ASC', { lower: [], upper: [] }, null, { scan: [], far: [] }],
] as const)('a scan in order %s begins at one bound or after the last key: %j %j', (order, given, after, expected) => {
  expect(scanBoundsOld(order, given, after)).toEqual(expected);
});
