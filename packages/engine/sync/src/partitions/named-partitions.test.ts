/** Partitions of tables in another schema, as those of own contracts are. */
import { parseChainId } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { detachPartition, dropDetached, findDetached, withPatientSession } from '../retention/drop-partition.ts';
import { partitionedMarks } from '../testing/partitioned-marks.ts';
import { ensurePartitions } from './ensure-partitions.ts';
import { readPartitions } from './read-partitions.ts';

const scratch = scratchOfFile();
/** As long as names of contracts' tables may be. */
const LONG = `contracts.${'a'.repeat(44)}`;
const CHAIN = parseChainId(11_297_108_109);
const DENSITY = { rows: 1_000, blocks: 100 };
const wanted = [{ from: 12_345_678, to: 12_345_678 }];

const ensure = (name: string) =>
  ensurePartitions(scratch.database, { name, rowsPerPartition: 1_000 }, CHAIN, wanted, DENSITY);

beforeAll(async () => {
  await scratch.database.query(sql`CREATE SCHEMA contracts`);
  for (const name of [LONG, 'contracts.vault_sent'])
    await scratch.database.query(
      sql`CREATE TABLE ${rawSql(name)} (chain_id bigint, block_number bigint, PRIMARY KEY (chain_id, block_number)) PARTITION BY RANGE (chain_id, block_number)`,
    );
});

test('a name has the schema, no name that a table may have, and at most 63 bytes', async () => {
  await ensure('contracts.vault_sent');
  await ensure(LONG);
  const names = ['contracts.vault_sent', LONG].map((name) => readPartitions(scratch.database, { name }, CHAIN));
  expect((await Promise.all(names)).flat().map(({ name }) => name)).toEqual([
    'contracts."vault_sent$11297108109_12345597"',
    `contracts."${'a'.repeat(42)}$11297108109_12345597"`,
  ]);
});

test('a detached one is found and dropped', async () => {
  const dataset = { ...partitionedMarks, table: { ...partitionedMarks.table, name: 'contracts.vault_sent' } };
  const [partition] = await readPartitions(scratch.database, dataset.table, CHAIN);
  const name = partition?.name ?? '';
  await withPatientSession(scratch.database, (run) => detachPartition(scratch.database, run, dataset, name));
  const [found, ...others] = await findDetached(scratch.database, dataset);
  expect([found, others]).toEqual([{ name, chainId: CHAIN, isPending: false }, []]);
  if (found !== undefined)
    await withPatientSession(scratch.database, (run) => dropDetached(scratch.database, run, dataset, found));
  expect(await findDetached(scratch.database, dataset)).toEqual([]);
});

test('a table that was dropped meanwhile gets none', async () => {
  expect(await ensure('contracts.gone')).toEqual([]);
});
