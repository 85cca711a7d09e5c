/** The positions of pools at a manager follow from few rows, however many changes they had and however many other pools there are. */
import { createChainRegistry } from '@chainstead/chains';
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { addressOf, explain, PLANS, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { poolKey } from '../pools/pool-creation.ts';
import { tickLiquidityStatement } from './read-tick-liquidity.ts';
import { SPAN_BLOCKS } from './tick-liquidity-projection.ts';

const eth = createChainRegistry().get('eth');
const MANAGER = addressOf(0x44);
const POOLS = [`0x${'9a'.repeat(32)}`, `0x${'9b'.repeat(32)}`] as const;
const OTHER_POOLS = 20_000;
const TICKS = 4;
const [WIDE, NARROW] = SPAN_BLOCKS;
/** Ten wide spans and six narrow ones lie before the block. */
const BLOCK = 10 * WIDE + 6 * NARROW + 5;
const NARROW_SPANS = BLOCK / NARROW;

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  const { database } = scratch;
  for (const pool of POOLS) {
    for (const width of SPAN_BLOCKS)
      await database.query(
        sql`INSERT INTO tick_liquidity (pool_key, chain_id, blocks, start, tick, pool, net)
         SELECT ${poolKey(pool)}, ${eth.id}, ${width}, span * ${width}, tick, ${hexBytes(pool)}, 5 FROM generate_series(0, ${Math.floor(BLOCK / width)}::int) AS span, generate_series(1, ${rawSql(TICKS)}) AS tick`,
      );
    await database.query(
      sql`INSERT INTO pool_creations (pool_key, chain_id, block_number, transaction_index, log_index, pool, factory, transaction_hash)
       VALUES (${poolKey(pool)}, ${eth.id}, 7, 0, 0, ${hexBytes(pool)}, ${hexBytes(MANAGER)}, sha256('x'))`,
    );
  }
  await database.query(
    sql`INSERT INTO tick_liquidity (pool_key, chain_id, blocks, start, tick, pool, net)
     SELECT number, ${eth.id}, ${rawSql(WIDE)}, 0, 1, sha256(number::text::bytea), 5 FROM generate_series(1, ${rawSql(OTHER_POOLS)}) AS number`,
  );
});

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test('reads the wide spans, and the narrow ones of the last of them', async () => {
    const statement = tickLiquidityStatement(
      eth,
      POOLS.map((pool) => ({ pool, factory: MANAGER })),
      BLOCK,
    );
    const { nodes } = await explain(scratch.database, statement, plan);
    const scans = nodes.filter((node) => node['Relation Name'] === 'tick_liquidity');
    expect(scans.length).toBeGreaterThan(0);
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Bitmap )?(Index|Heap)/);
    const rows = POOLS.length * TICKS * (10 + 6);
    // A bitmap counts a row in the index and in the table.
    expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * rows);
    expect(rows).toBeLessThan((POOLS.length * TICKS * NARROW_SPANS) / 100);
  });
});
