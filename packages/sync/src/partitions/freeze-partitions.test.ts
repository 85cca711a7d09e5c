import { createChainRegistry } from '@chainstead/chains';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createPartitionedMarkTable, partitionedMarks } from '../testing/partitioned-marks.ts';
import { ensurePartitions } from './ensure-partitions.ts';
import { freezeNewRows } from './freeze-partitions.ts';
import { readPartitions } from './read-partitions.ts';

const chain = createChainRegistry().get(1);
const table = { ...partitionedMarks.table, rowsPerPartition: 200_000 };
const options = { chain, datasets: [{ ...partitionedMarks, table }] };
const signal = new AbortController().signal;
let scratch: ScratchDatabase;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  await createPartitionedMarkTable(scratch.database);
  // Autovacuum would come now and then.
  await ensurePartitions(scratch.database, table, chain.id, [{ from: 0, to: 799 }], { rows: 400_000, blocks: 800 });
  for (const { name } of await readPartitions(scratch.database, table, chain.id))
    await scratch.database.query(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
});
afterAll(() => scratch.drop());

/** 500 rows a block. */
async function write(from: number, to: number): Promise<void> {
  await scratch.database.query(
    `INSERT INTO partitioned_marks SELECT decode(md5(n::text), 'hex'), 1, n / 500, n % 500, 1
       FROM generate_series($1::int, $2::int) AS n`,
    [from * 500, (to + 1) * 500 - 1],
  );
}

/** How often each partition was vacuumed, as far as the statistics have it. */
async function vacuums(): Promise<Record<string, number>> {
  const rows = await scratch.database.query<{ name: string; vacuums: number }>(
    `SELECT relname AS name, vacuum_count::int AS vacuums
       FROM pg_stat_all_tables JOIN pg_inherits ON inhrelid = relid WHERE inhparent = 'partitioned_marks'::regclass`,
  );
  return Object.fromEntries(rows.map(({ name, vacuums }) => [name, vacuums]));
}

it('freezes what is new where it is much, once, and leaves the rest to autovacuum', async () => {
  const partitions = await readPartitions(scratch.database, table, chain.id);
  const [low, high] = partitions.filter(({ from, to }) => to > from && from < 800);
  if (low === undefined || high === undefined) throw new Error('Two partitions are needed');
  await write(low.from, low.from + 250);
  await write(high.from, high.from + 5);
  await vi.waitFor(
    async () =>
      expect(freezeNewRows({ ...options, database: scratch.database }, AbortSignal.abort('stopped'))).rejects.toBe(
        'stopped',
      ),
    { timeout: 20_000, interval: 500 },
  );
  expect(await vacuums()).toMatchObject({ [low.name]: 0 });
  await vi.waitFor(
    async () => expect(await freezeNewRows({ ...options, database: scratch.database }, signal)).toEqual([low.name]),
    {
      timeout: 20_000,
      interval: 500,
    },
  );
  expect(await vacuums()).toMatchObject({ [low.name]: 1, [high.name]: 0 });
  expect(await freezeNewRows({ ...options, database: scratch.database }, signal)).toEqual([]);
  await write(low.from + 251, low.from + 252);
  expect(await freezeNewRows({ ...options, database: scratch.database }, signal)).toEqual([]);
});
