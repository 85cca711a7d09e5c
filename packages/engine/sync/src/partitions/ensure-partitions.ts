import { setTimeout as sleep } from 'node:timers/promises';
import type { BlockRange, ChainId } from '@chainstead/core';
import { type Database, isSpread, type Sql, sql, type Transaction, transactionLock } from '@chainstead/db';
import type { RowTable } from '../dataset/row-table.ts';
import { retryCommit } from '../rows/commit-retry.ts';
import {
  PARTITION_TOP,
  type Partition,
  type PartitionBounds,
  partitionWidth,
  planPartitions,
  type RowDensity,
  readPartitionsOf,
  sparseWidth,
} from './read-partitions.ts';

export interface WantedPartitions {
  readonly table: Pick<RowTable, 'name' | 'rowsPerPartition'>;
  /** Null for single rows, which reveal none. */
  readonly density: RowDensity | null;
}

/** Each table takes about ten locks, and a server has 6,400 by default. */
const TABLES_PER_TRANSACTION = 50;

/** Announced with one wait. Skips tables that don't exist. @returns names of created partitions */
export async function ensurePartitions(
  database: Database,
  chainId: ChainId,
  blocks: readonly BlockRange[],
  wanted: readonly WantedPartitions[],
): Promise<readonly string[]> {
  const tables = new Map(wanted.map((one) => [one.table.name, one]));
  const names = [...tables.keys()].sort();
  const made: string[] = [];
  for (let first = 0; first < names.length; first += TABLES_PER_TRANSACTION) {
    const group = names.slice(first, first + TABLES_PER_TRANSACTION).flatMap((name) => tables.get(name) ?? []);
    // May deadlock with writers, shard by shard.
    const makeGroup = () =>
      database.transaction((transaction) => makePartitions(transaction, chainId, blocks, group));
    made.push(...(await retryCommit(makeGroup)));
  }
  await announcePartitions(
    database,
    wanted.map(({ table }) => table),
  );
  return made;
}

/** @param wanted each table once, by name: the order of locks */
async function makePartitions(
  transaction: Transaction,
  chainId: ChainId,
  blocks: readonly BlockRange[],
  wanted: readonly WantedPartitions[],
): Promise<readonly string[]> {
  const tables = wanted.map(({ table }) => table);
  // On Citus, two tables would deadlock: both create shards.
  const isOneLock = await isSpread(transaction);
  const locks = isOneLock ? ['partitions'] : tables.map(({ name }) => `partitions:${name}`);
  for (const lock of locks) await transactionLock(transaction, lock);
  // Own contracts may be removed while their blocks are read, or during the wait for a lock.
  const present = await transaction.query<Named>(presentTables(tables));
  const partitions = await readPartitionsOf(transaction, tables, chainId);
  const byName = new Map(wanted.map((one) => [one.table.name, one]));
  const made: string[] = [];
  for (const { table, density } of present.flatMap(({ name }) => byName.get(name) ?? [])) {
    const existing = partitions.get(table.name) ?? [];
    const width = await widthOf(transaction, chainId, blocks, { table, density, existing });
    for (const bounds of planPartitions(existing, blocks, width))
      made.push(await attachPartition(transaction, table, chainId, bounds));
  }
  return made;
}

/** For partitions that a killed process may not have announced. Skips tables without partitions. */
export async function announceAgain(database: Database, tables: readonly Named[]): Promise<void> {
  await retryCommit(() =>
    database.query(sql`SELECT announce_partitions(oid) FROM (${presentTables(tables)}) AS present`),
  );
}

type Named = Pick<RowTable, 'name'>;

/** Partitioned tables, each once, in the order in which all transactions lock them. */
function presentTables(tables: readonly Named[]): Sql {
  return sql`SELECT DISTINCT name, oid FROM unnest(${tables.map(({ name }) => name)}::text[]) AS name JOIN pg_class ON oid = to_regclass(name) AND relkind = 'p' ORDER BY oid`;
}

async function widthOf(
  transaction: Transaction,
  chainId: ChainId,
  blocks: readonly BlockRange[],
  { table, density, existing }: WantedPartitions & { readonly existing: readonly Partition[] },
): Promise<number> {
  const rowsOfChain = existing.reduce((sum, { rows }) => sum + rows, 0);
  const nearby = await densityOf(transaction, chainId, nearest(existing, blocks));
  const size = { rowsPerPartition: table.rowsPerPartition, rowsOfChain };
  if (density !== null) return partitionWidth(joinDensities([density, nearby]), size);
  const highest = Math.max(...existing.map(({ from }) => from), ...blocks.map(({ to }) => to));
  return sparseWidth(partitionWidth(nearby, size), highest);
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
  { name: table }: Named,
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
 * rows. So transactions on the tables are awaited.
 */
async function announcePartitions(database: Database, tables: readonly Named[]): Promise<void> {
  await awaitPresentUsers(database, tables);
  await announceAgain(database, tables);
  await awaitPresentUsers(database, tables);
}

async function awaitPresentUsers(database: Database, tables: readonly Named[]): Promise<void> {
  const usesTable = sql`relation IN (SELECT oid FROM (${presentTables(tables)}) AS present) AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
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
