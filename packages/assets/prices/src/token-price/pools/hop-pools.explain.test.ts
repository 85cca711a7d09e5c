/** 100,000 dust pools of a token cost its hop no more rows than the limit. */
import { createChainRegistry } from '@chainstead/chains';
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { addressOf, explain, PLANS, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { HOP_POOLS_MAX, hopPoolsStatement, togetherStatement } from './hop-pools.ts';

const eth = createChainRegistry().get('eth');
const TOKEN = addressOf(0x70);
const OTHERS = [addressOf(0x71), addressOf(0x72)];
const DUST_POOLS = 100_000;

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await scratch.database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
     SELECT number, ${eth.id}, int4send(number) || ${hexBytes(`0x${'00'.repeat(16)}`)}, 'proven', 'Uniswap v2', ${hexBytes(addressOf(0xfac))}, ${hexBytes(TOKEN)}, int4send(-number) || ${hexBytes(`0x${'00'.repeat(16)}`)}, true, NULL
     FROM generate_series(1, ${rawSql(DUST_POOLS)}) AS number`,
  );
});

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each([
    ['each token', () => hopPoolsStatement(eth, [TOKEN, ...OTHERS]), HOP_POOLS_MAX + 1],
    ['all tokens', () => togetherStatement(eth, [TOKEN, ...OTHERS]), 1_001],
  ] as const)('of %s reads ranges of an index up to the limit', async (_, statement, rows) => {
    const { nodes } = await explain(scratch.database, statement(), plan);
    const scans = nodes.filter((node) => node['Relation Name'] === 'pools');
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^Index/);
    expect(rowsScanned(scans)).toBeLessThanOrEqual(rows);
  });
});
