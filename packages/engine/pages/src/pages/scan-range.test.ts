import { sql } from '@chainstead/db';
import { expect, it } from 'vitest';
import { scanRange } from './chain-page.ts';

const [lower, upper] = [[sql`number >= 10`], [sql`number <= 20`]];
const [below, above] = [[sql`number < 15`], [sql`number > 15`]];

it.each([
  ['begins at its upper bound', 'DESC', { lower, upper }, null, { scan: upper, far: lower }],
  ['begins at its lower bound', 'ASC', { lower, upper }, null, { scan: lower, far: upper }],
  ['begins after the last key', 'DESC', { lower, upper }, below, { scan: below, far: lower }],
  ['begins after the last key', 'ASC', { lower, upper }, above, { scan: above, far: upper }],
  ['ends at its only bound', 'DESC', { lower, upper: [] }, null, { scan: lower, far: lower }],
  ['has no bounds', 'ASC', { lower: [], upper: [] }, null, { scan: [], far: [] }],
] as const)('a scan %s in order %s', (_name, order, given, after, expected) => {
  expect(scanRange(order, given, after)).toEqual(expected);
});
