import { parseChainId } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, it } from 'vitest';
import { ensurePartitions } from './ensure-partitions.ts';
import { PARTITION_TOP, readPartitions } from './read-partitions.ts';

const TABLE = { name: 'placed', rowsPerPartition: 1_000 };
const CHAIN = parseChainId(11_297_108_109);
const OTHER = parseChainId(1);
const DENSITY = { rows: 1_000, blocks: 100 };
const WANTED = [{ table: TABLE, density: DENSITY }];

const scratch = scratchOfFile();
const database = () => scratch.database;

beforeEach(async () => {
  await database().query(sql`DROP TABLE IF EXISTS placed`);
  await database().query(sql`TRUNCATE sync_ranges`);
  await database().query(
    sql`CREATE TABLE placed (account bigint, chain_id bigint, block_number integer, PRIMARY KEY (account, chain_id, block_number)) PARTITION BY RANGE (chain_id, block_number)`,
  );
  await database().query(sql`CREATE INDEX placed_by_block ON placed USING brin (chain_id, block_number)`);
});

const insert = (chain: number, block: number) =>
  database().query(sql`INSERT INTO placed VALUES (7, ${chain}, ${block})`);

describe('ensurePartitions', () => {
  it('makes places for the blocks of a chain, of no other, with the indexes of the table', async () => {
    await expect(insert(CHAIN, 1_050)).rejects.toMatchObject({ code: '23514', table: 'placed' });
    expect(await ensurePartitions(database(), CHAIN, [{ from: 1_050, to: 1_060 }], WANTED)).toHaveLength(1);
    await insert(CHAIN, 1_050);
    await expect(insert(CHAIN, 1_050)).rejects.toMatchObject({ code: '23505' });
    await expect(insert(OTHER, 1_050)).rejects.toMatchObject({ code: '23514' });
    const [partition] = await readPartitions(database(), TABLE, CHAIN);
    expect(partition).toMatchObject({ chainId: CHAIN, isSealed: false });
    expect(partition?.from).toBeLessThanOrEqual(1_050);
    expect(partition?.to).toBeGreaterThan(1_060);
    const indexes = await database().query(
      sql`SELECT FROM pg_indexes WHERE tablename = ${partition?.name ?? null}`,
    );
    expect(indexes).toHaveLength(2);
  });

  it('makes each partition once when several want it at the same time', async () => {
    const wanted = [{ from: 500, to: 1_200 }];
    const made = await Promise.all(
      Array.from({ length: 6 }, () => ensurePartitions(database(), CHAIN, wanted, WANTED)),
    );
    const names = made.flat();
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBe((await readPartitions(database(), TABLE, CHAIN)).length);
    for (const block of [500, 850, 1_200]) await insert(CHAIN, block);
  });

  it('stands in the way of neither readers nor writers', async () => {
    await ensurePartitions(database(), CHAIN, [{ from: 0, to: 10 }], WANTED);
    await database().transaction(async (transaction) => {
      await transaction.query(sql`INSERT INTO placed VALUES (1, ${CHAIN}, 5)`);
      await transaction.query(sql`SELECT count(*) FROM placed`);
      // If it waited for the open transaction, this would wait forever.
      await ensurePartitions(database(), CHAIN, [{ from: 5_000, to: 5_010 }], WANTED);
      await transaction.query(sql`INSERT INTO placed VALUES (1, ${CHAIN}, 5005)`);
    });
    expect(await database().query(sql`SELECT FROM placed`)).toHaveLength(2);
  });

  it('learns from the partitions beside it how many rows blocks have', async () => {
    await ensurePartitions(
      database(),
      CHAIN,
      [{ from: 0, to: 99 }],
      [{ table: TABLE, density: { rows: 0, blocks: 1 } }],
    );
    const [first] = await readPartitions(database(), TABLE, CHAIN);
    await database().query(
      sql`INSERT INTO placed SELECT n, ${CHAIN}, n / 100 FROM generate_series(0, 9999) AS n`,
    );
    await database().query(sql`ANALYZE placed`);
    await database().query(
      sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (${CHAIN}, 'placed', 0, 99, 'none')`,
    );
    const from = first?.to ?? 0;
    await ensurePartitions(
      database(),
      CHAIN,
      [{ from, to: from }],
      [{ table: TABLE, density: { rows: 0, blocks: 1 } }],
    );
    const [, second] = await readPartitions(database(), TABLE, CHAIN);
    // At 100 rows per block, 1,000 rows fill 10 blocks.
    expect((second?.to ?? 0) - (second?.from ?? 0)).toBe(10);
  });

  it('makes few for single rows of a history that lie far apart', async () => {
    const head = 20_000_000;
    await ensurePartitions(database(), CHAIN, [{ from: head, to: head + 9 }], WANTED);
    for (let block = head - 40_000; block > 0; block -= 40_000)
      await ensurePartitions(database(), CHAIN, [{ from: block, to: block }], [{ table: TABLE, density: null }]);
    const partitions = await readPartitions(database(), TABLE, CHAIN);
    expect(partitions.length).toBeLessThanOrEqual(27);
    await insert(CHAIN, 40_000);
  });

  it('leaves the highest partition open above where heights end', async () => {
    await ensurePartitions(database(), CHAIN, [{ from: PARTITION_TOP - 5, to: PARTITION_TOP - 1 }], WANTED);
    await insert(CHAIN, PARTITION_TOP);
    expect((await readPartitions(database(), TABLE)).at(-1)?.to).toBe(PARTITION_TOP);
  });
});
