import { setTimeout as sleep } from 'node:timers/promises';
import type { BlockRange, ChainId } from '@chainstead/core';
import { type Database, isSpread, sql, type Transaction, transactionLock } from '@chainstead/db';
import type { RowTable } from '../dataset/row-table.ts';
import { retryCommit } from '../rows/commit-retry.ts';
import {
  PARTITION_TOP,
  type PartitionBounds,
  partitionWidth,
  planPartitions,
  type RowDensity,
  sparseWidth,
} from './plan-partitions.ts';
import { type Partition, readPartitions } from './read-partitions.ts';

/** @param density null for single rows, which reveal none. @returns names of created partitions */
export async function ensurePartitions(
  database: Database,
  table: Pick<RowTable, 'name' | 'rowsPerPartition'>,
  chainId: ChainId,
  wanted: readonly BlockRange[],
  density: RowDensity | null,
): Promise<readonly string[]> {
  const make = async (transaction: Transaction): Promise<readonly string[]> => {
    // On Citus, two tables would deadlock: both create shards.
    if (await isSpread(transaction)) await transactionLock(transaction, 'partitions');
    await transactionLock(transaction, `partitions:${table.name}`);
    // Own contracts may be removed while their blocks are read.
    if ((await transaction.query(sql`SELECT WHERE to_regclass(${table.name}) IS NOT NULL`)).length === 0)
      return [];
    const existing = await readPartitions(transaction, table, chainId);
    const rowsOfChain = existing.reduce((sum, { rows }) => sum + rows, 0);
    const nearby = await densityOf(transaction, chainId, nearest(existing, wanted));
    const size = { rowsPerPartition: table.rowsPerPartition, rowsOfChain };
    const width =
      density === null
        ? sparseWidth(
            partitionWidth(nearby, size),
            Math.max(...existing.map(({ from }) => from), ...wanted.map(({ to }) => to)),
          )
        : partitionWidth(joinDensities([density, nearby]), size);
    const names: string[] = [];
    for (const bounds of planPartitions(existing, wanted, width))
      names.push(await attachPartition(transaction, table, chainId, bounds));
    return names;
  };
  // May deadlock with writers, shard by shard.
  const made = await retryCommit(() => database.transaction(make));
  await announcePartitions(database, table.name);
  return made;
}

/** For a partition that a killed process may not have announced. */
export async function announceAgain(database: Database, table: string): Promise<void> {
  await database.query(sql`SELECT announce_partitions(oid) FROM pg_class WHERE oid = to_regclass(${table})`);
}

function nearest(existing: readonly Partition[], wanted: readonly BlockRange[]): readonly Partition[] {
  const [first] = wanted;
  if (first === undefined) return [];
  const below = existing.filter(({ to }) => to <= first.from).at(-1);
  const above = existing.find(({ from }) => from > first.from);
  return [below, above].flatMap((partition) => partition ?? []);
}

async function densityOf(
  transaction: Transaction,
  chainId: ChainId,
  partitions: readonly Partition[],
): Promise<RowDensity> {
  const densities: RowDensity[] = [];
  for (const { from, to, rows } of partitions) {
    const [covered] = await transaction.query<{ blocks: number }>(
      sql`SELECT coalesce(max(blocks), 0)::float8 AS blocks FROM (
         SELECT sum(least(last_block, ${to - 1}) - greatest(first_block, ${from}) + 1) AS blocks FROM sync_ranges
          WHERE chain_id = ${chainId} AND first_block <= ${to - 1} AND last_block >= ${from} GROUP BY dataset) AS of_dataset`,
    );
    const blocks = covered?.blocks ?? 0;
    if (blocks > 0) densities.push({ rows, blocks });
  }
  return joinDensities(densities);
}

function joinDensities(densities: readonly RowDensity[]): RowDensity {
  return {
    rows: densities.reduce((sum, { rows }) => sum + rows, 0),
    blocks: densities.reduce((sum, { blocks }) => sum + blocks, 0),
  };
}

async function attachPartition(
  transaction: Transaction,
  { name: table }: Pick<RowTable, 'name'>,
  chainId: ChainId,
  { from, to }: PartitionBounds,
): Promise<string> {
  const [made] = await transaction.query<{ name: string }>(
    sql`SELECT attach_partition(to_regclass(${table}), ${chainId}, ${from}, ${to === PARTITION_TOP ? null : to}) AS name`,
  );
  if (made === undefined) throw new RangeError(`No partition of ${table} was made`);
  return made.name;
}

const LOOK_AGAIN_MS = 10;
/** A longer transaction has listed partitions and taken its snapshot already. */
const PATIENCE_MS = 1_000;

/**
 * Call it before rows are written to new partitions. Attaching blocks nothing, which leaves two
 * gaps (Postgres 18.4):
 * - A session that lists partitions then got the invalidation too early. So another is sent later.
 * - An earlier statement may take its snapshot after rows were written, and see coverage without
 * rows. So transactions on the table are awaited.
 */
async function announcePartitions(database: Database, table: string): Promise<void> {
  await awaitPresentUsers(database, table);
  await announceAgain(database, table);
  await awaitPresentUsers(database, table);
}

async function awaitPresentUsers(database: Database, table: string): Promise<void> {
  const usesTable = sql`relation = to_regclass(${table}) AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  const users = await database.query<{ transaction: string }>(
    sql`SELECT DISTINCT virtualtransaction AS transaction FROM pg_locks WHERE ${usesTable} AND pid <> pg_backend_pid()`,
  );
  if (users.length === 0) return;
  const transactions = users.map(({ transaction }) => transaction);
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_AGAIN_MS) {
    await sleep(LOOK_AGAIN_MS);
    const left = await database.query(
      sql`SELECT FROM pg_locks WHERE ${usesTable} AND virtualtransaction = ANY(${transactions}::text[]) LIMIT 1`,
    );
    if (left.length === 0) return;
  }
}
