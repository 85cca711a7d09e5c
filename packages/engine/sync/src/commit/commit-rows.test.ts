import { rawSql, sql } from '@chainstead/db';
import { exampleChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import { readPartitionsOf } from '../partitions/read-partitions.ts';
import { partitionedMarks } from '../testing/partitioned-marks.ts';
import { commitRows } from './commit-rows.ts';

const TABLES = 20;
const BLOCK = 7;
const chain = exampleChain();
const scratch = scratchOfFile();
const datasets = Array.from({ length: TABLES }, (_, index): Dataset => {
  const table = { ...partitionedMarks.table, name: `placed_${index}x` };
  return { ...partitionedMarks, name: table.name, table };
});

beforeAll(async () => {
  for (const { table } of [...datasets, dependent])
    await scratch.database.query(
      sql`CREATE TABLE ${rawSql(table.name)} (chain_id bigint, block_number integer) PARTITION BY RANGE (chain_id, block_number)`,
    );
});

const dependent: Dataset = {
  ...partitionedMarks,
  name: 'placed_children',
  table: { ...partitionedMarks.table, name: 'placed_children' },
  dependent: { select: async () => [] },
};

test('one failed attempt makes the missing partitions of all tables with rows', async () => {
  const { database } = scratch;
  const written = datasets.slice(1);
  const all = [...datasets, dependent];
  let attempts = 0;
  await commitRows(
    { database, chain },
    all,
    {
      blocks: [{ from: BLOCK, to: BLOCK }],
      batch: {
        blockLines: [],
        // Lines of the dependent dataset are selected later.
        parts: [...written, dependent].map((dataset) => ({ dataset, lines: [''], mentions: [] })),
        failures: [],
      },
    },
    async () => {
      attempts += 1;
      await database.transaction(async (transaction) => {
        for (const { table } of written)
          await transaction.copy(table.name, ['chain_id', 'block_number'], [`${chain.id}\t${BLOCK}`]);
      });
    },
  );
  expect(attempts).toBe(2);
  const tables = all.map(({ table }) => table);
  const partitions = await readPartitionsOf(database, tables, chain.id);
  expect([...partitions.keys()].sort()).toEqual(written.map(({ name }) => name).sort());
});
