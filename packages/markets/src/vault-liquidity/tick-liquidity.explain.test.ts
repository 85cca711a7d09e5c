/** The positions of pools at a manager follow from few rows, however many changes they had and however many other pools there are. */
import { createChainRegistry } from '@chainstead/chains';
import { hexBytes } from '@chainstead/db';
import { addressOf, explain, PLANS, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { poolKey } from '../pools/pool-key.ts';
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
        `INSERT INTO tick_liquidity (pool_key, chain_id, blocks, start, tick, pool, net)
         SELECT $1, $2, $3, span * $3, tick, $4, 5 FROM generate_series(0, $5::int) AS span, generate_series(1, ${TICKS}) AS tick`,
        [poolKey(pool), eth.id, width, hexBytes(pool), Math.floor(BLOCK / width)],
      );
    await database.query(
      `INSERT INTO pool_creations (pool_key, chain_id, block_number, transaction_index, log_index, pool, factory, transaction_hash)
       VALUES ($1, $2, 7, 0, 0, $3, $4, sha256('x'))`,
      [poolKey(pool), eth.id, hexBytes(pool), hexBytes(MANAGER)],
    );
  }
  await database.query(
    `INSERT INTO tick_liquidity (pool_key, chain_id, blocks, start, tick, pool, net)
     SELECT number, $1, ${WIDE}, 0, 1, sha256(number::text::bytea), 5 FROM generate_series(1, ${OTHER_POOLS}) AS number`,
    [eth.id],
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
