/** The liquidity changes of a busy pool cost no row of its swaps. */
import { createChainRegistry } from '@chainstead/chains';
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { poolKey } from '@chainstead/markets/requests';
import { addressOf, createPartitions, explain, PLANS, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { liquidityChangesStatement } from './liquidity-in-range.ts';

const eth = createChainRegistry().get('eth');
const POOLS = [addressOf(0x9a), addressOf(0x9b)];
const BLOCKS = 1_000;
const SWAPS_PER_BLOCK = 10;
/** One block in a hundred has a change. */
const CHANGES = POOLS.length * (BLOCKS / 100);

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await createPartitions(scratch.database, 'swaps', eth.id, [BLOCKS / 2]);
  for (const pool of POOLS)
    await scratch.database.query(
      sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, kind, tick_lower, tick_upper, liquidity_delta, pool, wallet, transaction_hash)
       SELECT ${poolKey(pool)}, ${eth.id}, block, 0, log, is_change::int, CASE WHEN is_change THEN 0 END, CASE WHEN is_change THEN 60 END, CASE WHEN is_change THEN 5 END, ${hexBytes(pool)}, ${hexBytes(addressOf(0x51))}, sha256('x')
       FROM generate_series(1, ${rawSql(BLOCKS)}) AS block CROSS JOIN generate_series(1, ${rawSql(SWAPS_PER_BLOCK)}) AS log
         CROSS JOIN LATERAL (SELECT block % 100 = 0 AND log = 1 AS is_change) AS of_row`,
    );
});

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test('reads the changes alone', async () => {
    const pools = POOLS.map((pool) => ({ pool, first: 1, last: BLOCKS }));
    const { nodes } = await explain(scratch.database, liquidityChangesStatement(eth, pools), plan);
    const scans = nodes.filter((node) => node['Relation Name']?.startsWith('swaps') === true);
    expect(scans.length).toBeGreaterThan(0);
    expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * CHANGES);
  });
});
