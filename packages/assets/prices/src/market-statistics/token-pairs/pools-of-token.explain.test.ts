/** The statements for the pools of a token stop at their bounds, also for a token with very many pools. */
import { parseAddress } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { addressOf, explain, PLANS, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { eth, WETH } from '../testing/seeded-market.ts';
import { activeStatement, poolsStatement } from './token-pairs.ts';

const POOLS = 20_000;
/** Pools in the stale statistics. */
const ANALYZED = 2_000;
const LIMIT = 500;

const scratch = scratchOfFile({ autovacuum: false });

/** Stores pools and two trades of each. The key of an address is in its first bytes; every token has a pool with ether. */
async function seedRange(first: number, last: number): Promise<void> {
  const { database } = scratch;
  const rest = hexBytes(`0x${'00'.repeat(16)}`);
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
     SELECT number, ${eth.id}, int4send(number) || ${rest}, 'proven', 'Uniswap v2', ${hexBytes(addressOf(0xfac))}, int4send(number) || ${rest}, ${hexBytes(WETH)}, true, NULL
     FROM generate_series(${first}::int, ${last}::int) AS number`,
  );
  await database.query(
    sql`INSERT INTO trades (pool_key, chain_id, block_number, transaction_index, log_index, token0_key, token1_key)
     SELECT number, ${eth.id}, 2 * number + log, 0, 0, address_key(int4send(number) || ${rest}), address_key(${hexBytes(WETH)})
     FROM generate_series(${first}::int, ${last}::int) AS number, generate_series(0, 1) AS log`,
  );
}

beforeAll(async () => {
  await seedRange(1, ANALYZED);
  await scratch.database.query(sql`ANALYZE`);
  await seedRange(ANALYZED + 1, POOLS);
});

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test('of an ordinary token reads its pool only', async () => {
    const token = parseAddress(`0x00000007${'00'.repeat(16)}`);
    const { nodes } = await explain(scratch.database, poolsStatement(eth, token, LIMIT), plan);
    const scans = nodes.filter((node) => node['Relation Name'] === 'pools');
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
    expect(rowsScanned(scans)).toBeLessThanOrEqual(2);
  });

  test('of the wrapped native token reads as many pools as the limit', async () => {
    const { nodes } = await explain(scratch.database, poolsStatement(eth, WETH, LIMIT), plan);
    const scans = nodes.filter((node) => node['Relation Name'] === 'pools');
    expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * LIMIT);
  });

  test('of its newest trades reads as many as the limit', async () => {
    const bounds = { poolsMax: 100, tradesMax: LIMIT };
    const { nodes } = await explain(scratch.database, activeStatement(eth, WETH, 3 * POOLS, bounds), plan);
    const scans = nodes.filter((node) => node['Relation Name'] === 'trades');
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^Index/);
    expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * LIMIT);
  });
});
