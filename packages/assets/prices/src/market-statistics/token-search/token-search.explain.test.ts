import { hexBytes, rawSql, sql } from '@chainstead/db';
import { explain, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { eth, WETH } from '../testing/seeded-market.ts';
import { textStatement } from './search-statement.ts';

const TOKENS = 20_000;

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  // Every name has "token" in it, each sixth symbol is the same, and each 200th token is of a list.
  await scratch.database.query(
    sql`INSERT INTO tokens (address, chain_id, standard, name, symbol, verified, facts_status)
     SELECT substring(sha256(number::text::bytea) FOR 20), 1, 'erc20', 'Token ' || md5(number::text),
       CASE WHEN number % 6 = 0 THEN 'SAME' ELSE upper(substring(md5('s' || number) FOR 6)) END, number % 200 = 7, 'known'
     FROM generate_series(1, ${rawSql(TOKENS)}) AS number`,
  );
  // A third of the tokens has a pool with ether.
  await scratch.database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
     SELECT address_key(address), 1, address, 'proven', 'Uniswap v2', address, address, ${hexBytes(WETH)}, true, NULL FROM tokens WHERE get_byte(address, 0) % 3 = 0`,
  );
  await scratch.database.query(sql`VACUUM ANALYZE tokens`);
  await scratch.database.query(sql`VACUUM ANALYZE pools`);
});

describe.each(['generic', 'custom'] as const)('a search of tokens by the %s plan', (plan) => {
  test.each([
    // Ranges stop after 2,000 rows, and each is looked up in the pools.
    ['a text of every name', 'token', 30_000],
    ['a common symbol', 'same', 30_000],
    ['a rare part', 'c4ca4238a0b9', 2_000],
    ['an unknown part', 'xyzxyzxyz', 2_000],
    ['one letter', 's', 30_000],
  ])('reads a bounded part for %s', async (_of, query, buffersMax) => {
    const statement = textStatement({ chains: [eth], query, verifiedOnly: false }, false);
    const { buffers } = await explain(scratch.database, statement, plan);
    expect(buffers).toBeLessThan(buffersMax);
  });

  test.each([true, false])('takes indexes, of verified tokens only: %s', async (verifiedOnly) => {
    const statement = textStatement({ chains: [eth], query: 'c4ca4238', verifiedOnly }, false);
    const { nodes } = await explain(scratch.database, statement, plan);
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
  });
});

// The plan of the API's connections. A plan for the values may read most of a table as small as this one.
test.each(['token', 'same', 'tok', 's'])('looks at no more rows of %j than a range may have', async (query) => {
  const statement = textStatement({ chains: [eth], query, verifiedOnly: false }, false);
  const { nodes } = await explain(scratch.database, statement, 'generic');
  const scans = nodes.filter((node) => node['Index Name'] !== undefined || node['Relation Name'] === 'tokens');
  expect(scans.length).toBeGreaterThan(0);
  for (const scan of scans) expect(rowsScanned([scan])).toBeLessThanOrEqual(2_000);
});
