/** Written under the commit lock, when the rows they depend on are complete. */
import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import type { Database, Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import { ensurePartitions, type WantedPartitions } from '../partitions/ensure-partitions.ts';
import type { DatasetLines, DecodedBatch } from '../read/decoded-batch.ts';
import { type CommitAttempt, retryCommit } from '../rows/commit-retry.ts';
import { addRows, type WriteMode } from '../rows/row-changes.ts';

export interface PlacedRows {
  readonly blocks: readonly BlockRange[];
  readonly batch: DecodedBatch;
  /** Datasets that the batch holds all rows of. @default all */
  readonly kept?: readonly Dataset[];
  /** `single`: some rows of each block, for an on-demand backfill. @default 'all' */
  readonly rows?: 'all' | 'single';
}

/** Creates all missing partitions on failure: cheaper than a check. @throws the last attempt's error */
export async function commitRows<T>(
  { database, chain }: { readonly database: Database; readonly chain: Chain },
  datasets: readonly Dataset[],
  { blocks, batch, kept = datasets, rows = 'all' }: PlacedRows,
  attempt: (how: CommitAttempt) => Promise<T>,
): Promise<T> {
  let left = datasets.length;
  return retryCommit(attempt, async (error) => {
    const table = tableWithoutPartition(error);
    const named = (name: string) => datasets.find((candidate) => candidate.table.name === name);
    // Names of own contracts' tables include their schema.
    const dataset = table === null ? undefined : (named(`${schemaOf(error)}.${table}`) ?? named(table));
    if (left === 0 || dataset === undefined) return false;
    left -= 1;
    await ensurePartitions(database, chain.id, blocks, wantedOf(dataset, { blocks, batch, kept, rows }));
    return true;
  });
}

/** All tables with rows: they would fail one by one. `missed` may have only derived rows. */
function wantedOf(missed: Dataset, { blocks, batch, kept, rows }: Required<PlacedRows>): WantedPartitions[] {
  const count = blocks.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const lines = new Map([[missed, 0]]);
  for (const part of batch.parts) {
    // Most lines of a dependent dataset are dropped when they are written.
    const mayHaveRows = part.dataset === missed || !isDependent(part.dataset);
    if (part.dataset.table.isPartitioned && mayHaveRows && part.lines.length > 0)
      lines.set(part.dataset, (lines.get(part.dataset) ?? 0) + part.lines.length);
  }
  return [...lines].map(([dataset, rowsOfDataset]) => ({
    table: dataset.table,
    density: rows === 'single' || !kept.includes(dataset) ? null : { rows: rowsOfDataset, blocks: count },
  }));
}

/** Once per definition, under the commit lock. @throws the error of a changed dataset */
export async function requireCurrent(transaction: Transaction, datasets: readonly Dataset[]): Promise<void> {
  for (const check of new Set(datasets.flatMap((dataset) => dataset.requireCurrent ?? [])))
    await check(transaction);
}

/** The table that had no partition for a row; null for any other error. */
export function tableWithoutPartition(error: unknown): string | null {
  if (!(error instanceof Error && 'code' in error)) return null;
  if (error.code === CHECK_VIOLATION && 'table' in error && typeof error.table === 'string') {
    // A failed CHECK of the schema has a name; a missing partition has none.
    return 'constraint' in error && error.constraint !== undefined ? null : error.table;
  }
  // Citus forwards only the message, which names a shard, and for a COPY no error code.
  const isHandedOn = error.code === CHECK_VIOLATION || error.code === INTERNAL_ERROR;
  return isHandedOn ? (/^no partition of relation "(\w+)_\d+"/.exec(error.message)?.[1] ?? null) : null;
}

function schemaOf(error: unknown): string {
  return error instanceof Error && 'schema' in error ? String(error.schema) : '';
}

const CHECK_VIOLATION = '23514';
const INTERNAL_ERROR = 'XX000';

export type RowWatches = ReadonlyMap<Dataset, () => Promise<void>>;

export const NO_WATCHES: RowWatches = new Map();

/** Their rows may be written in any order. */
export function independentOf(datasets: readonly Dataset[]): readonly Dataset[] {
  return datasets.some(isDependent) ? datasets.filter((dataset) => !isDependent(dataset)) : datasets;
}
export const isDependent = ({ dependent }: Dataset): boolean => dependent !== undefined;

/** Call it before rows of the range are changed. */
export async function watchRows(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  range: BlockRange,
): Promise<RowWatches> {
  const watches = new Map<Dataset, () => Promise<void>>();
  for (const dataset of datasets)
    if (dataset.preceding !== undefined)
      watches.set(dataset, await dataset.preceding.watch(transaction, chain, range));
  return watches;
}

interface DependentWriting {
  readonly chain: Chain;
  readonly datasets: readonly Dataset[];
  readonly range: BlockRange;
  readonly batch: Pick<DecodedBatch, 'parts'>;
  readonly mode: WriteMode;
  readonly watches: RowWatches;
}

/** Under the commit lock. @returns the number of rows by dataset name */
export async function writeDependentRows(
  transaction: Transaction,
  { chain, datasets, range, batch, mode, watches }: DependentWriting,
): Promise<ReadonlyMap<string, number>> {
  const written = new Map<string, number>();
  for (const dataset of datasets) {
    if (isDependent(dataset))
      for await (const part of selectedParts(transaction, { chain, datasets, range, batch }, dataset)) {
        await addRows(transaction, [part], mode);
        written.set(dataset.name, (written.get(dataset.name) ?? 0) + part.lines.length);
      }
    await watches.get(dataset)?.();
  }
  return written;
}

export async function* selectedParts(
  transaction: Transaction,
  { chain, datasets, range, batch }: Pick<DependentWriting, 'chain' | 'datasets' | 'range' | 'batch'>,
  dataset: Dataset,
): AsyncGenerator<DatasetLines> {
  const blocks = { range, datasets: new Set(datasets.map(({ name }) => name)) };
  for (const part of batch.parts) {
    if (part.dataset !== dataset) continue;
    const lines = await dataset.dependent?.select(transaction, chain, blocks, part.lines);
    yield { ...part, lines: lines ?? part.lines };
  }
}
