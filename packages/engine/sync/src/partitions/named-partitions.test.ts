/** Partitions of tables in another schema, as those of own contracts are. */
import { parseChainId } from '@chainstead/core';
import { rawSql, sql, withPatientSession } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { detachPartition, dropDetached, findDetached } from '../retention/delete-old-rows.ts';
import { partitionedMarks } from '../testing/partitioned-marks.ts';
import { ensurePartitions } from './ensure-partitions.ts';
import { readPartitions, readPartitionsOf } from './read-partitions.ts';

const scratch = scratchOfFile();
/** The longest that Postgres stores, with one difference at the end. */
const LONG = `contracts.${'a'.repeat(62)}x`;
const SIMILAR = `contracts.${'a'.repeat(62)}y`;
const SHORT = 'contracts.vault_sent';
const CHAIN = parseChainId(11_297_108_109);
const PATIENCE = { tables: 'partitions', giveUpAfterMs: 0 };
const DENSITY = { rows: 1_000, blocks: 100 };
const blocks = [{ from: 12_345_678, to: 12_345_678 }];

const ensure = (...names: readonly string[]) =>
  ensurePartitions(
    scratch.database,
    CHAIN,
    blocks,
    names.map((name) => ({ table: { name, rowsPerPartition: 1_000 }, density: DENSITY })),
  );

beforeAll(async () => {
  await scratch.database.query(sql`CREATE SCHEMA contracts`);
  for (const name of [LONG, SIMILAR, SHORT])
    await scratch.database.query(
      sql`CREATE TABLE ${rawSql(name)} (chain_id bigint, block_number bigint, PRIMARY KEY (chain_id, block_number)) PARTITION BY RANGE (chain_id, block_number)`,
    );
});

test('a name has the schema, at most 63 bytes, and differs from those of all other tables', async () => {
  const made = await ensure(LONG, SIMILAR, SHORT, 'contracts.gone');
  const partitions = await readPartitionsOf(
    scratch.database,
    [LONG, SIMILAR, SHORT].map((name) => ({ name })),
    CHAIN,
  );
  expect([LONG, SIMILAR, SHORT].flatMap((name) => partitions.get(name) ?? []).map(({ name }) => name)).toEqual(
    made,
  );
  expect(made[2]).toBe('contracts."vault_sent$11297108109_12345597"');
  for (const name of made.slice(0, 2))
    expect(name).toMatch(/^contracts\."a{29}\$[0-9a-f]{12}\$11297108109_12345597"$/);
  expect(new Set(made).size).toBe(3);
});

test.each([LONG, SHORT])('a detached one of %s is found and dropped', async (table) => {
  const dataset = { ...partitionedMarks, table: { ...partitionedMarks.table, name: table } };
  const [partition] = await readPartitions(scratch.database, dataset.table, CHAIN);
  const name = partition?.name ?? '';
  await withPatientSession(scratch.database, PATIENCE, (run) =>
    detachPartition(scratch.database, run, dataset, name),
  );
  const [found, ...others] = await findDetached(scratch.database, [LONG, SIMILAR, SHORT]);
  expect([found, others]).toEqual([{ table, name, chainId: CHAIN, isPending: false }, []]);
  if (found !== undefined)
    await withPatientSession(scratch.database, PATIENCE, (run) =>
      dropDetached(scratch.database, run, dataset, found),
    );
  expect(await findDetached(scratch.database, [LONG, SIMILAR, SHORT])).toEqual([]);
});

test('a table that was dropped meanwhile gets none', async () => {
  expect(await ensure('contracts.gone')).toEqual([]);
});
