/** Partitions of a sharded table on a real cluster of three servers, if this machine's Postgres has Citus. */
import { createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { copyText, rawSql, sql, withPatientSession } from '@chainstead/db';
import { findCitus, type ScratchCitus, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tableWithoutPartition } from '../commit/commit-rows.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { RowTable } from '../dataset/row-table.ts';
import { detachPartition, dropDetached, findDetached } from '../retention/delete-old-rows.ts';
import { sealFullPartitions } from '../retention/seal-partitions.ts';
import { countRows } from '../status/chain-status.ts';
import { buildBulkIndexes, dropBulkIndexes, missingBulkIndexes } from './bulk-indexes.ts';
import { ensurePartitions } from './ensure-partitions.ts';
import { readPartitions } from './read-partitions.ts';

const citus = await findCitus('partitions of a distributed table');
const chain = createChainRegistry().get(1);
const CHAIN = chain.id;
const TABLE: Pick<RowTable, 'name' | 'rowsPerPartition' | 'isPartitioned' | 'bulkIndexes'> = {
  name: 'erc20_transfer_sides',
  rowsPerPartition: 1_000,
  isPartitioned: true,
  bulkIndexes: [
    {
      name: 'erc20_transfer_sides_by_token',
      table: 'erc20_transfer_sides',
      isPartitioned: true,
      definition: 'USING btree (account_key, token_key(token), block_number)',
    },
  ],
};
const DATASET = { name: 'transfers', table: TABLE } as Dataset;
/** The index by token uses the last bytes. */
const ADDRESS = `\\x${'aa'.repeat(20)}`;
const DENSITY = { rows: 1_000, blocks: 100 };
const WANTED = [{ table: TABLE, density: DENSITY }];

describe.runIf(citus !== undefined)('partitions of a distributed table', () => {
  let cluster: ScratchCitus;
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    if (citus === undefined) throw new Error('There is no Citus');
    cluster = await citus.createCluster();
    scratch = await cluster.createDatabase({ distributed: true });
  });
  afterAll(async () => {
    await scratch?.drop();
    await cluster?.remove();
  });

  const insert = (from: number, to: number, each = 1) =>
    scratch.database.query(
      sql`INSERT INTO erc20_transfer_sides SELECT n * 7919, ${CHAIN}::bigint, block, 0, n, 0, '${rawSql(ADDRESS)}', '${rawSql(ADDRESS)}', '${rawSql(ADDRESS)}', 1, '\\x00'
         FROM generate_series(${from}::int, ${to}::int) AS block, generate_series(1, ${each}::int) AS n`,
    );

  it('are missed by a commit under the name of the table, made, and written to', async () => {
    const missed: unknown = await insert(500, 500).catch((error: unknown) => error);
    expect(tableWithoutPartition(missed)).toBe('erc20_transfer_sides');
    const lines = [
      [
        '7',
        CHAIN,
        '500',
        '0',
        '1',
        '0',
        ...[ADDRESS, ADDRESS, ADDRESS].map(copyText),
        '1',
        copyText('\\x00'),
      ].join('\t'),
    ];
    const columns =
      'account_key chain_id block_number transaction_index log_index direction account token counterparty value transaction_hash';
    const copied: unknown = await scratch.database
      .transaction((transaction) => transaction.copy('erc20_transfer_sides', columns.split(' '), lines))
      .catch((error: unknown) => error);
    expect(tableWithoutPartition(copied)).toBe('erc20_transfer_sides');
    const made = await ensurePartitions(scratch.database, CHAIN, [{ from: 500, to: 550 }], WANTED);
    expect(made).toHaveLength(1);
    await insert(500, 550, 40);
    expect(await countRows(scratch.database, ['erc20_transfer_sides'])).toEqual([
      { table: 'erc20_transfer_sides', rows: 51 * 40, exact: true },
    ]);
  });

  it('are as large as their shards together, by which the next ones are cut', async () => {
    const { database } = scratch;
    await database.query(sql`ANALYZE erc20_transfer_sides`);
    const [first] = await readPartitions(database, TABLE, CHAIN);
    expect(first?.rows).toBe(51 * 40);
    expect(first?.bytes).toBeGreaterThan(51 * 40 * 60);
    await database.query(
      sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (${CHAIN}, 'transfers', 500, 550, 'none')`,
    );
    const from = first?.to ?? 0;
    await ensurePartitions(
      database,
      CHAIN,
      [{ from, to: from }],
      [{ table: TABLE, density: { rows: 0, blocks: 1 } }],
    );
    const second = (await readPartitions(database, TABLE, CHAIN)).at(-1);
    // At 40 rows per block, 1,000 rows fill 25 blocks.
    expect((second?.to ?? 0) - (second?.from ?? 0)).toBeLessThanOrEqual(26);
  });

  it('are sealed, and their indexes dropped and built for a bulk load', async () => {
    const { database } = scratch;
    const [first] = await readPartitions(database, TABLE, CHAIN);
    await database.query(sql`TRUNCATE sync_ranges`);
    await database.query(
      sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (${CHAIN}, 'transfers', ${first?.from ?? null}, ${(first?.to ?? 0) + chain.reorgDepthMax}, 'none')`,
    );
    const options = { chain, database, datasets: [DATASET], clock: systemClock, logger: silentLogger() };
    expect(await sealFullPartitions(options, new AbortController().signal)).toEqual([first?.name]);
    expect(await sealFullPartitions(options, new AbortController().signal)).toEqual([]);
    await dropBulkIndexes(database, [DATASET]);
    expect(await missingBulkIndexes(database, [DATASET])).toEqual(['erc20_transfer_sides_by_token']);
    await buildBulkIndexes(database, [DATASET]);
    expect(await missingBulkIndexes(database, [DATASET])).toEqual([]);
    const onShards = await database.query<{ result: string }>(
      sql`SELECT result FROM run_command_on_shards('erc20_transfer_sides', $$SELECT count(*) FROM pg_index WHERE indrelid = '%s'::regclass AND indisvalid$$)`,
    );
    const [onCoordinator] = await database.query<{ indexes: number }>(
      sql`SELECT count(*)::int AS indexes FROM pg_index WHERE indrelid = 'erc20_transfer_sides'::regclass`,
    );
    expect(new Set(onShards.map(({ result }) => Number(result)))).toEqual(new Set([onCoordinator?.indexes]));
  });

  it('are detached and dropped on every node', async () => {
    const { database } = scratch;
    const [first] = await readPartitions(database, TABLE, CHAIN);
    if (first === undefined) throw new Error('No partition');
    await withPatientSession(database, { tables: 'partitions', giveUpAfterMs: 0 }, async (run) => {
      await detachPartition(database, run, DATASET, first.name);
      const [detached] = await findDetached(database, [TABLE.name]);
      expect(detached).toMatchObject({ name: first.name, chainId: CHAIN, isPending: false });
      if (detached !== undefined) await dropDetached(database, run, DATASET, detached);
    });
    expect(await findDetached(database, [TABLE.name])).toEqual([]);
    const left = await database.query<{ result: string }>(
      sql`SELECT result FROM run_command_on_workers($$SELECT count(*) FROM pg_class WHERE relname LIKE '${rawSql(first.name)}%'$$)`,
    );
    expect(left.map(({ result }) => result)).toEqual(['0', '0']);
  });
});
