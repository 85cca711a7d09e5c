import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { modelClass } from '../holders/testing/holder-model.ts';
import { classInSql, HOLDER_CLASSES } from './token-holders.ts';

const scratch = scratchOfFile();

const SUPPLY = 10n ** 30n;
/** This many billionths of a percent of the supply. */
const share = (parts: bigint): bigint => (SUPPLY * parts) / 10n ** 11n;

test.each<readonly [string, bigint, string]>([
  ['0.1 %', share(100_000_000n), 'sharks'],
  ['0.1000001 %', share(100_000_100n), 'whales'],
  ['0.05 %', share(50_000_000n), 'sharks'],
  ['a little below 0.05 %', share(50_000_000n) - 1n, 'dolphins'],
  ['0.005 %', share(5_000_000n), 'dolphins'],
  ['0.001 %', share(1_000_000n), 'fish'],
  ['0.00025 %', share(250_000n), 'octopus'],
  ['0.00015 %', share(150_000n), 'crabs'],
  ['a little below 0.00015 %', share(150_000n) - 1n, 'shrimps'],
  ['all of it', SUPPLY, 'whales'],
  ['more than there is', 5n * SUPPLY, 'whales'],
])('who holds %s of a token, %d, is one of the %s', async (_share, balance, expected) => {
  const [row] = await scratch.database.query<{ class: number }>(
    sql`SELECT ${classInSql(sql`${balance.toString()}::numeric`, sql`${SUPPLY.toString()}::numeric`)} AS class`,
  );
  expect(HOLDER_CLASSES[row?.class ?? -1]).toBe(expected);
  expect(HOLDER_CLASSES[modelClass(balance, SUPPLY)]).toBe(expected);
});
