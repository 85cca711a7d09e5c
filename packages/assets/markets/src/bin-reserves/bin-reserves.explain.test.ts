/** The bins of a pair near a price follow from few rows, however many changes it had and however many other pools and bins there are. */
import { createChainRegistry } from '@chainstead/chains';
import { hexBytes, rawSql, type Sql, sql } from '@chainstead/db';
import { addressOf, createPartitions, explain, PLANS, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { poolKey } from '../pools/pool-creation.ts';
import { BIN_SPAN_BLOCKS } from './bin-reserves-projection.ts';
import { binChangesStatement, binReservesStatement } from './read-bin-reserves.ts';

const chain = createChainRegistry().get('avalanche');
const FACTORY = addressOf(0xfa);
const PAIRS = [addressOf(0xb1), addressOf(0xb2)];
const OTHER_POOLS = 20_000;
/** Bins of each span. The statements read a tenth of them. */
const BINS = 40;
const [LOWEST, HIGHEST] = [11, 14];
const NEAR = HIGHEST - LOWEST + 1;
const [WIDE, MIDDLE, NARROW] = BIN_SPAN_BLOCKS;
/** Three wide spans, five middle ones and six narrow ones lie before the block. */
const BLOCK = 3 * WIDE + 5 * MIDDLE + 6 * NARROW + 5;
const STATEMENT_RANGES = PAIRS.map((pool) => ({ pool, factory: FACTORY, lowest: LOWEST, highest: HIGHEST }));

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  const { database } = scratch;
  await createPartitions(database, 'bin_changes', chain.id);
  for (const pool of PAIRS) {
    for (const [width, first] of [
      [WIDE, 0],
      [MIDDLE, 0],
      [NARROW, 3 * (WIDE / NARROW)],
    ] as const)
      await database.query(
        sql`INSERT INTO bin_reserves (pool_key, chain_id, blocks, start, bin, pool, amount0, amount1)
         SELECT ${poolKey(pool)}, ${chain.id}, ${width}, span * ${width}, bin, ${hexBytes(pool)}, 5, 5 FROM generate_series(${first}::int, ${Math.floor(BLOCK / width)}::int) AS span, generate_series(1, ${rawSql(BINS)}) AS bin`,
      );
    await database.query(
      sql`INSERT INTO pool_creations (pool_key, chain_id, block_number, transaction_index, log_index, pool, factory, transaction_hash)
       VALUES (${poolKey(pool)}, ${chain.id}, 7, 0, 0, ${hexBytes(pool)}, ${hexBytes(FACTORY)}, sha256('x'))`,
    );
    await database.query(
      sql`INSERT INTO bin_changes (pool_key, chain_id, block_number, bin, pool, amount0, amount1)
       SELECT ${poolKey(pool)}, ${chain.id}, number, bin, ${hexBytes(pool)}, 1, 1 FROM generate_series(${BLOCK}::int - 500, ${BLOCK}::int) AS number, generate_series(1, ${rawSql(BINS)}) AS bin`,
    );
  }
  await database.query(
    sql`INSERT INTO bin_reserves (pool_key, chain_id, blocks, start, bin, pool, amount0, amount1)
     SELECT number, ${chain.id}, ${rawSql(WIDE)}, 0, 12, decode('ee' || lpad(to_hex(number), 38, '0'), 'hex'), 5, 5 FROM generate_series(1, ${rawSql(OTHER_POOLS)}) AS number`,
  );
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT ${chain.id}, number, sha256(number::text::bytea), to_timestamp(number) FROM generate_series(${BLOCK}::int - 2000, ${BLOCK}::int) AS number`,
  );
});

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  async function scansOf(statement: Sql, table: RegExp) {
    const { nodes } = await explain(scratch.database, statement, plan);
    const scans = nodes.filter((node) => table.test(String(node['Relation Name'])));
    expect(scans.length).toBeGreaterThan(0);
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Bitmap )?(Index|Heap)/);
    return scans;
  }

  test('reads each block once, by the widest span, and the near bins alone', async () => {
    const scans = await scansOf(binReservesStatement(chain, STATEMENT_RANGES, BLOCK), /^bin_reserves/);
    const rows = PAIRS.length * NEAR * (3 + 5 + 6);
    // A bitmap counts a row in the index and in the table.
    expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * rows);
  });

  test('reads the later changes of near bins alone', async () => {
    const span = { first: BLOCK - 9, last: BLOCK };
    const scans = await scansOf(binChangesStatement(chain, STATEMENT_RANGES, span), /^bin_changes/);
    expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * PAIRS.length * NEAR * 10);
  });
});
