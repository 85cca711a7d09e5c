import type { Chain } from '@chainstead/chains';
import { type BlockRange, type Clock, type Log, mergeRanges, subtractRanges } from '@chainstead/core';
import type { Database, Transaction } from '@chainstead/db';
import { commitSubject, commitSubjectRows } from '../commit/commit-subject.ts';
import { type ClaimOwner, consumeClaims } from '../coverage/claims.ts';
import { listCoverage } from '../coverage/coverage.ts';
import type { RangeSubject, Subject } from '../coverage/subject.ts';
import { recordSubjectRange } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { type BlockFacts, linesOfRows } from '../read/decoded-batch.ts';
import type { KnownContracts } from '../rows/known-contracts.ts';
import { recordProgress } from './history-record.ts';

export interface ChunkDependencies {
  readonly database: Database;
  readonly chain: Chain;
  readonly knownContracts: KnownContracts;
  readonly owner: ClaimOwner;
  readonly clock: Clock;
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

const CLAIM_WAIT_MS = 500;

export async function commitChunk(
  dependencies: ChunkDependencies,
  chunk: Chunk,
  signal: AbortSignal,
): Promise<number> {
  const { found } = chunk.read;
  let left = 'logs' in found ? [...new Set(found.logs.map((log) => log.blockNumber))] : [...found.rows.keys()];
  let calls = chunk.read.calls;
  let rows = 0;
  for (;;) {
    signal.throwIfAborted();
    const runs = mergeRanges(left.map((block) => ({ from: block, to: block })));
    const claimed = await dependencies.owner.claimEach(dependencies.chain.id, runs, 'history');
    // After the claim: claimed blocks can't become covered by others.
    const open = await notCovered(dependencies, chunk.dataset, left);
    const mine = new Set(blocksIn(claimed));
    const held = open.filter((block) => mine.has(block));
    left = open.filter((block) => !mine.has(block));
    if (claimed.length > 0 || left.length === 0) {
      rows += await commit(dependencies, chunk, { claimed, blocks: held, calls, isLast: left.length === 0 });
      calls = 0;
    }
    if (left.length === 0) return rows;
    await dependencies.clock.sleep(CLAIM_WAIT_MS, signal);
  }
}

async function commit(
  dependencies: ChunkDependencies,
  { subject, dataset, range, read, recordedAs = subject }: Chunk,
  part: { claimed: readonly BlockRange[]; blocks: readonly number[]; calls: number; isLast: boolean },
): Promise<number> {
  const { database, owner, chain } = dependencies;
  const record = async (transaction: Transaction, rowsAdded: number): Promise<void> => {
    await recordProgress(transaction, subject, { calls: part.calls, rows: rowsAdded });
    if (part.isLast) await recordSubjectRange(transaction, recordedAs, dataset.name, range);
  };
  if (part.claimed.length === 0) {
    // Nothing to write: no commit lock.
    await database.transaction((transaction) => record(transaction, 0));
    return 0;
  }
  const wanted = new Set(part.blocks);
  const blocks = new Map([...read.blocks].filter(([number]) => wanted.has(number)));
  const begin = (transaction: Transaction) => consumeClaims(transaction, owner, chain, part.claimed);
  const { found } = read;
  try {
    if ('logs' in found) {
      const logs = found.logs.filter((log) => wanted.has(log.blockNumber));
      return await commitSubject(dependencies, { datasets: [dataset], logs, blocks, begin, record });
    }
    const rows = [...found.rows].flatMap(([number, ofBlock]) => (wanted.has(number) ? ofBlock : []));
    const parts = [linesOfRows(dataset, rows)];
    return await commitSubjectRows(dependencies, { blocks: [...blocks.values()], parts, begin, record });
  } catch (error) {
    await owner.release(chain.id, ...part.claimed);
    throw error;
  }
}

async function notCovered({ database, chain }: ChunkDependencies, { name }: Dataset, blocks: readonly number[]) {
  if (blocks.length === 0) return [];
  const coverage = await listCoverage(database, chain.id);
  const covered = coverage.filter(({ dataset }) => dataset === name).map(({ range }) => range);
  const wanted = blocks.map((block) => ({ from: block, to: block }));
  return blocksIn(subtractRanges(wanted, covered));
}

function blocksIn(ranges: readonly BlockRange[]): number[] {
  return ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
}
