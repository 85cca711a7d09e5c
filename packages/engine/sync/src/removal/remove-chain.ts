/** Coverage goes first: no response counts rows that are gone. A new run continues. */
import { ChainsteadError, defineError } from '@chainstead/core';
import {
  type Database,
  type RunStatement,
  rawSql,
  type Sql,
  sql,
  tryAcquireLeadership,
  withPatientSession,
} from '@chainstead/db';
import { detachPartition, findDetached } from '../retention/delete-old-rows.ts';
import { type ChainTable, conditionOf, readChainTables, type StoredChain, whoIndexes } from './chain-tables.ts';

export interface ChainRemoval {
  readonly database: Database;
  readonly chain: StoredChain;
  removeContracts(): Promise<void>;
  /** 8 kB pages. */
  onProgress(progress: { readonly done: number; readonly total: number; readonly rows: number }): void;
}

/** Stored until the removal is finished: the chain is not indexed. */
export const REMOVAL_CODE = 'CHAIN_BEING_REMOVED';

export class ChainIndexedError extends defineError(
  'CHAIN_INDEXED',
  ({ name }: Pick<StoredChain, 'name'>, by: string) => ({
    message: `${name} is being indexed by ${by}`,
    facts: { chain: name, by },
    remedy: `Remove ${name} from CHAINS on every machine (for Aptos, its node URL), restart Chainstead, then run the command again`,
    retryable: true,
  }),
) {}

/** The remaining rows of an interrupted removal don't fit new ones. */
export class ChainBeingRemovedError extends defineError('CHAIN_BEING_REMOVED', (name: string) => ({
  message: `The removal of ${name} is not finished`,
  facts: { chain: name },
  remedy: `Run "chainstead chains remove ${name}" to the end. Indexing starts within a minute after it`,
})) {}

export async function requireNotIndexed(database: Pick<Database, 'query'>, chain: StoredChain): Promise<void> {
  const by = await whoIndexes(database, chain);
  if (by !== null) throw new ChainIndexedError(chain, by);
}

export async function requireNotBeingRemoved(
  database: Pick<Database, 'query'>,
  { id, key }: { readonly id: number; readonly key: string },
): Promise<void> {
  const isRemoved = sql`chain_id = ${id} AND stop_code = ${REMOVAL_CODE}`;
  const [record] = await database.query(sql`SELECT FROM sync_chains WHERE ${isRemoved}`);
  if (record !== undefined) throw new ChainBeingRemovedError(key);
}

/** Holds the ingest lease. @returns deleted rows, partly estimated. @throws ChainIndexedError */
export async function removeChain(removal: ChainRemoval, signal: AbortSignal): Promise<number> {
  const { database, chain } = removal;
  await requireNotIndexed(database, chain);
  const { leadership, leader } = await tryAcquireLeadership(database, chain.lease);
  if (leadership === null) throw new ChainIndexedError(chain, leader);
  try {
    return await deleteAll(removal, AbortSignal.any([signal, leadership.lost]));
  } finally {
    await leadership.release();
  }
}

/** Coverage first, records last. */
const COVERAGE = ['sync_ranges', 'subject_ranges', 'aptos_ranges', 'projections', 'subject_projections'];
const RECORDS = ['sync_chains', 'aptos_networks'];

async function deleteAll({ database, chain, ...removal }: ChainRemoval, signal: AbortSignal): Promise<number> {
  if (chain.key.column === 'chain_id')
    await database.query(
      sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, stop_code, stop_message) VALUES (${chain.key.value}, ${chain.name}, 0, 0, ${REMOVAL_CODE}, ${new ChainBeingRemovedError(chain.name).message})
       ON CONFLICT (chain_id) DO UPDATE SET stop_code = excluded.stop_code, stop_message = excluded.stop_message`,
    );
  const tables = await readChainTables(database, chain);
  const isIn = (names: readonly string[]) => (table: ChainTable) => names.includes(table.name);
  const between = tables.filter((table) => ![...COVERAGE, ...RECORDS].includes(table.name));
  const pagesOf = ({ pages, partitions }: ChainTable): number =>
    (partitions ?? []).reduce((sum, { bytes }) => sum + Math.ceil(bytes / PAGE_BYTES), pages);
  const total = tables.reduce((sum, table) => sum + pagesOf(table), 0);
  let done = 0;
  let rows = 0;
  const step: StepReport = (pages, deleted) => {
    done += pages;
    rows += deleted;
    removal.onProgress({ done: Math.min(done, total), total, rows });
    signal.throwIfAborted();
  };
  const partitioned = tables.filter(({ partitions }) => partitions !== null).map(({ name }) => name);
  const detached = new Set((await findDetachedOf(database, chain, partitioned)).map(({ table }) => table));
  // Most tables have no partition of the chain.
  for (const table of [...tables.filter(isIn(COVERAGE)), ...between])
    if (table.partitions?.length !== 0 || detached.has(table.name)) await clear(database, chain, table, step);
  await removal.removeContracts();
  for (const table of tables.filter(isIn(RECORDS))) await clear(database, chain, table, step);
  return rows;
}

type StepReport = (pages: number, deletedRows: number) => void;

const PAGE_BYTES = 8_192;
const PAGES_AT_ONCE = 1_000;

async function clear(database: Database, chain: StoredChain, table: ChainTable, step: StepReport): Promise<void> {
  if (table.partitions !== null) return dropPartitions(database, chain, table, step);
  if (table.isSpread) return step(table.pages, await deleteFromShards(database, table));
  // Without an index: most keys begin with an address.
  for (let from = 0; from < table.pages; from += PAGES_AT_ONCE) {
    const to = from + PAGES_AT_ONCE;
    const pages = rawSql(`ctid >= '(${from},0)' AND ctid < '(${to},0)'`);
    step(Math.min(PAGES_AT_ONCE, table.pages - from), await deleteRows(database, table, pages));
  }
}

async function deleteRows(database: Pick<Database, 'query'>, table: ChainTable, condition: Sql): Promise<number> {
  const [row] = await database.query<{ deleted: number }>(
    sql`WITH deleted AS (DELETE FROM ${rawSql(table.name)} WHERE ${condition} AND ${conditionOf(table)} RETURNING 1)
     SELECT count(*) AS deleted FROM deleted`,
  );
  return row?.deleted ?? 0;
}

/** In one statement: pages of shards have no number here. */
async function deleteFromShards(database: Pick<Database, 'query'>, table: ChainTable): Promise<number> {
  const rows = sql`FROM ${rawSql(table.name)} WHERE ${conditionOf(table)}`;
  const [counted] = await database.query<{ rows: number }>(sql`SELECT count(*) AS rows ${rows}`);
  await database.query(sql`DELETE ${rows}`);
  return counted?.rows ?? 0;
}

/** For readers of a table, whose chains continue. */
const GIVE_UP_AFTER_MS = 60_000;

/** Also pending detachments of any chain, which block others. */
async function findDetachedOf(database: Database, { key }: StoredChain, tables: readonly string[]) {
  const detached = await findDetached(database, tables);
  return detached.filter(({ isPending, chainId }) => isPending || chainId === key.value);
}

async function dropPartitions(
  database: Database,
  chain: StoredChain,
  { name, partitions }: ChainTable,
  step: StepReport,
): Promise<void> {
  const table = { table: { name } } as const;
  // Postgres detaches one partition of a table at a time.
  const { leadership, leader } = await tryAcquireLeadership(database, `drop-partitions:${name}`);
  if (leadership === null)
    throw new ChainsteadError({
      code: 'PARTITIONS_BUSY',
      message: `${leader} is dropping partitions of ${name}`,
      facts: { table: name, leader },
      remedy: 'Run the command again in a minute: it continues',
      retryable: true,
    });
  try {
    const left = new Map((partitions ?? []).map((part) => [part.name, part]));
    const drop = async (run: RunStatement, part: string) => {
      await run(rawSql(`DROP TABLE ${part}`));
      const size = left.get(part);
      if (size !== undefined) step(Math.ceil(size.bytes / PAGE_BYTES), size.rows);
      left.delete(part);
    };
    await withPatientSession(database, { tables: name, giveUpAfterMs: GIVE_UP_AFTER_MS }, async (run) => {
      for (const { name: part, isPending } of await findDetachedOf(database, chain, [name]))
        if (isPending) await run(rawSql(`ALTER TABLE ${name} DETACH PARTITION ${part} FINALIZE`));
      for (const { name: part, isPending, chainId } of await findDetachedOf(database, chain, [name]))
        if (!isPending && chainId === chain.key.value) await drop(run, part);
      for (const part of [...left.keys()]) {
        await detachPartition(database, run, table, part);
        await drop(run, part);
      }
    });
  } finally {
    await leadership.release();
  }
}
