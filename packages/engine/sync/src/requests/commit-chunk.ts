import type { Chain } from '@chainstead/chains';
import { type BlockRange, type Log, mergeRanges, subtractRanges } from '@chainstead/core';
import type { Database, Transaction } from '@chainstead/db';
import { commitSubject, commitSubjectRows } from '../commit/commit-settled.ts';
import { listCoverage } from '../coverage/coverage.ts';
import { type RangeSubject, recordSubjectRange, type Subject } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { type BlockFacts, linesOfRows } from '../read/decoded-batch.ts';
import type { KnownContracts } from '../rows/known-contracts.ts';
import { recordProgress } from './history-record.ts';

export interface ChunkDependencies {
  readonly database: Database;
  readonly chain: Chain;
  readonly knownContracts: KnownContracts;
}

export interface Chunk {
  readonly subject: Subject;
  readonly dataset: Dataset;
  readonly range: BlockRange;
  /** @default the subject */
  readonly recordedAs?: RangeSubject;
  readonly read: {
    /** In chain order, without duplicates; or decoded rows by block. */
    readonly found:
      | { readonly logs: readonly Log[] }
      | { readonly rows: ReadonlyMap<number, readonly unknown[]> };
    /** Every block with a log or row. */
    readonly blocks: ReadonlyMap<number, BlockFacts>;
    readonly calls: number;
  };
}

/** A backfill covered some of the blocks, or retention dropped them, before the commit lock was held. */
class CoverageChangedError extends Error {}

/**
 * Waits for no backfill of the same blocks: each writes only the rows that are absent. Covered blocks have all their
 * rows, maybe proven, and are left out.
 *
 * @returns the number of rows added
 */
export async function commitChunk(
  dependencies: ChunkDependencies,
  chunk: Chunk,
  signal?: AbortSignal,
): Promise<number> {
  for (;;) {
    signal?.throwIfAborted();
    const open = await notCovered(dependencies.database, dependencies, chunk);
    try {
      return await commit(dependencies, chunk, open);
    } catch (error) {
      if (!(error instanceof CoverageChangedError)) throw error;
    }
  }
}

async function commit(dependencies: ChunkDependencies, chunk: Chunk, open: ReadonlySet<number>): Promise<number> {
  const { database, chain } = dependencies;
  const { subject, dataset, range, read, recordedAs = subject } = chunk;
  const record = async (transaction: Transaction, rows: number): Promise<void> => {
    // Invariant: SYNC-NO-DUPLICATE
    const now = await notCovered(transaction, { chain }, chunk);
    if (now.symmetricDifference(open).size > 0) throw new CoverageChangedError();
    await recordProgress(transaction, subject, { calls: read.calls, rows });
    await recordSubjectRange(transaction, recordedAs, dataset.name, range);
  };
  if (open.size === 0) {
    // Nothing to write: no commit lock.
    await database.transaction((transaction) => record(transaction, 0));
    return 0;
  }
  const blocks = new Map([...read.blocks].filter(([number]) => open.has(number)));
  const { found } = read;
  if ('logs' in found) {
    const logs = found.logs.filter((log) => open.has(log.blockNumber));
    return commitSubject(dependencies, { datasets: [dataset], logs, blocks, record });
  }
  const rows = [...found.rows].flatMap(([number, ofBlock]) => (open.has(number) ? ofBlock : []));
  const parts = [linesOfRows(dataset, rows)];
  return commitSubjectRows(dependencies, { blocks: [...blocks.values()], parts, record });
}

/** Blocks of the chunk that the chain lacks in the dataset. */
async function notCovered(
  source: Pick<Database, 'query'>,
  { chain }: Pick<ChunkDependencies, 'chain'>,
  { dataset, range, read: { found } }: Chunk,
): Promise<ReadonlySet<number>> {
  const numbers = 'logs' in found ? found.logs.map((log) => log.blockNumber) : [...found.rows.keys()];
  if (numbers.length === 0) return new Set();
  const coverage = await listCoverage(source, chain.id, range);
  const covered = mergeRanges(coverage.filter((one) => one.dataset === dataset.name).map((one) => one.range));
  const wanted = mergeRanges(numbers.map((block) => ({ from: block, to: block })));
  return new Set(subtractRanges(wanted, covered).flatMap(blocksIn));
}

function blocksIn({ from, to }: BlockRange): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
