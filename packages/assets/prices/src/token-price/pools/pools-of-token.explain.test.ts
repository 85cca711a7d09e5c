/** The statement for pools of many tokens reads those of the tokens against anchors only. */
import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { addressOf, explain, PLANS, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { poolsStatement } from './hop-pools.ts';

const eth = createChainRegistry().get('eth');
const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
const FACTORY = addressOf(0xfac);
const POOLS = 20_000;
/** Tokens of a wallet, each with one pool. */
const TOKENS = 100;
/** Pools of the first token against tokens without a price, and as many unusual ones against dollars at a pool manager. */
const DUST_POOLS = 100_000;

const tokens = Array.from({ length: TOKENS }, (_, index) =>
  parseAddress(`0x${(7 * (index + 1)).toString(16).padStart(8, '0')}${'00'.repeat(16)}`),
);

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  const { database } = scratch;
  // The key of an address is in its first bytes; every token has a pool with dollars.
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
     SELECT number, ${eth.id}, int4send(number) || ${hexBytes(`0x${'00'.repeat(16)}`)}, 'proven', 'Uniswap v2', ${hexBytes(FACTORY)}, int4send(number) || ${hexBytes(`0x${'00'.repeat(16)}`)}, ${hexBytes(USDC)}, true, NULL
     FROM generate_series(1, ${rawSql(POOLS)}) AS number`,
  );
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
     SELECT -number, ${eth.id}, '\\xff'::bytea || int4send(number) || substr(${hexBytes(`0x${'00'.repeat(16)}`)}::bytea, 2), 'proven', 'Uniswap v2', ${hexBytes(FACTORY)}, ${hexBytes(tokens[0] ?? '')}, int4send(-number) || ${hexBytes(`0x${'00'.repeat(16)}`)}, true, NULL
     FROM generate_series(1, ${rawSql(DUST_POOLS)}) AS number`,
  );
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, vault, status, exchange, factory, token0, token1, is_counted, left_out, due_at)
     SELECT number, ${eth.id}, sha256(int4send(number)), ${hexBytes(FACTORY)}, 'proven', 'Uniswap v4', ${hexBytes(FACTORY)}, ${hexBytes(tokens[0] ?? '')}, ${hexBytes(USDC)}, true, 'crowded', NULL
     FROM generate_series(1, ${rawSql(DUST_POOLS)}) AS number`,
  );
});

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each([1, TOKENS])('for %d tokens reads a pool of each', async (count) => {
    const wanted = { forms: tokens.slice(0, count), anchors: [USDC], factories: [FACTORY] };
    const { nodes } = await explain(scratch.database, poolsStatement(eth, wanted), plan);
    const scans = nodes.filter((node) => node['Relation Name'] === 'pools');
    expect(scans).toHaveLength(2);
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
    expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * count);
  });
});
