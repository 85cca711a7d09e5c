import { createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, it } from 'vitest';
import { ensurePartitions } from '../partitions/ensure-partitions.ts';
import { readPartitions } from '../partitions/read-partitions.ts';
import { createPartitionedMarkTable, partitionedMarks } from '../testing/partitioned-marks.ts';
import { sealFullPartitions } from './seal-partitions.ts';

const chain = createChainRegistry().get(1);
const table = { ...partitionedMarks.table, rowsPerPartition: 30_000 };
const scratch = scratchOfFile();

beforeAll(async () => {
  await createPartitionedMarkTable(scratch.database);
});

/** Returns the size of each partition's indexes in bytes. */
async function indexBytes(): Promise<Map<string, number>> {
  const rows = await scratch.database.query<{ name: string; bytes: number }>(
    sql`SELECT relid::regclass::text AS name, pg_indexes_size(relid)::float8 AS bytes
       FROM pg_partition_tree('partitioned_marks') WHERE isleaf`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}

it('seals what is indexed whole and settled, and nothing else; rows are read as before', async () => {
  const { database } = scratch;
  // 300 rows per block; the lowest partition is cut at the first indexed block.
  const density = { rows: 30_000, blocks: 100 };
  await ensurePartitions(database, chain.id, [{ from: 1_000, to: 1_399 }], [{ table, density }]);
  for (let batch = 0; batch < 20; batch++)
    await database.query(
      sql`INSERT INTO partitioned_marks SELECT decode(md5(n::text), 'hex'), 1, 1000 + n / 300, n, 1
         FROM generate_series(${batch * 6_000}::int, ${batch * 6_000}::int + 5999) AS n`,
    );
  await database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (1, 'marks', 1000, 1120, 'none'), (1, 'marks', 1122, ${1_250 + chain.reorgDepthMax}, 'none')`,
  );
  const before = await indexBytes();
  const options = {
    chain,
    database,
    datasets: [{ ...partitionedMarks, table }],
    clock: systemClock,
    logger: silentLogger(),
  };
  const sealed = await sealFullPartitions(options, new AbortController().signal);
  const partitions = await readPartitions(database, table, chain.id);
  const expected = partitions
    .filter(({ from, to }) => to <= 1_250 && !(from <= 1_121 && 1_121 < to))
    .map(({ name }) => name);
  expect(expected.length).toBeGreaterThan(0);
  expect(sealed).toEqual(expected);
  expect(partitions.filter(({ isSealed }) => isSealed).map(({ name }) => name)).toEqual(expected);
  const after = await indexBytes();
  for (const [name, bytes] of before)
    if (expected.includes(name)) expect(after.get(name) ?? 0).toBeLessThan(0.85 * bytes);
    else expect(after.get(name)).toBe(bytes);
  expect(await sealFullPartitions(options, new AbortController().signal)).toEqual([]);
  expect(await database.query(sql`SELECT FROM partitioned_marks`)).toHaveLength(120_000);
});
