import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Dataset } from '../dataset.ts';
import type { DecodedBatch } from '../decoded-batch.ts';
import { ensurePartitions } from './ensure-partitions.ts';
import type { RowDensity } from './plan-partitions.ts';

/** What a transaction is about to write. */
export interface PlacedRows {
  /** The runs of blocks that its rows are of. */
  readonly blocks: readonly BlockRange[];
  readonly batch: DecodedBatch;
  /** The datasets that the batch holds all rows of; of others single ones are written beside it. @default all */
  readonly kept?: readonly Dataset[];
  /** `single`: those that a history asks for out of the rows of their blocks. @default 'all' */
  readonly rows?: 'all' | 'single';
}

/**
 * Runs a transaction that writes rows of datasets; when a partition for them is missing, makes it and runs the transaction again.
 * That is once for some million rows, so nothing is looked up before each transaction.
 */
export async function withPartitions<T>(
  { database, chain }: { readonly database: Database; readonly chain: Chain },
  datasets: readonly Dataset[],
  { blocks, batch, kept = datasets, rows = 'all' }: PlacedRows,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let left = datasets.length; ; left--)
    try {
      return await attempt();
    } catch (error) {
      const table = tableWithoutPartition(error);
      const dataset = datasets.find((one) => one.table.name === table);
      if (left === 0 || dataset === undefined) throw error;
      const isSingle = rows === 'single' || !kept.includes(dataset);
      const density = isSingle ? null : densityOf(blocks, rowsOf(batch, dataset));
      await ensurePartitions(database, dataset.table, chain.id, blocks, density);
    }
}

function densityOf(blocks: readonly BlockRange[], rows: number): RowDensity {
  return { rows, blocks: blocks.reduce((sum, { from, to }) => sum + to - from + 1, 0) };
}

function rowsOf({ parts }: DecodedBatch, dataset: Dataset): number {
  let rows = 0;
  for (const part of parts) if (part.dataset === dataset) rows += part.lines.length;
  return rows;
}

/** The partitioned table that had no place for a row; null for another error. */
export function tableWithoutPartition(error: unknown): string | null {
  if (!(error instanceof Error && 'code' in error)) return null;
  if (error.code === CHECK_VIOLATION && 'table' in error && typeof error.table === 'string') {
    // A check of the schema that a row fails has a name.
    return 'constraint' in error && error.constraint !== undefined ? null : error.table;
  }
  // Of a distributed table: Citus hands on the text, which names a shard (erc20_transfers_102008), and of a COPY not even the code.
  const isHandedOn = error.code === CHECK_VIOLATION || error.code === INTERNAL_ERROR;
  return isHandedOn ? (/^no partition of relation "(\w+)_\d+"/.exec(error.message)?.[1] ?? null) : null;
}

const CHECK_VIOLATION = '23514';
const INTERNAL_ERROR = 'XX000';
