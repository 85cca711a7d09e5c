/**
 * Builds derived states without subjects from the rows that are there, by ascending blocks, a piece in each transaction. Under the commit lock all
 * rows are either committed, and the piece counts those of its blocks, or their transaction waits for the lock, and will then see
 * how far the state is built: `derive-changes.ts`. So each row is counted once, whatever arrives or goes meanwhile.
 */
import type { Chain } from '@chainstead/chains';
import { type Database, isDistributed, type Transaction } from '@chainstead/db';
import type { Dataset, DerivedState } from '../dataset.ts';
import { PARTITION_TOP } from '../partitions/plan-partitions.ts';
import { lockChainCommits } from '../write-batch.ts';
import { EVERYTHING, type StateOf } from './counted-rows.ts';
import { countSelected } from './derive-changes.ts';
import {
  type DerivedRecord,
  hasSubjects,
  readDerivedRecords,
  recordOf,
  saveDerivedProgress,
  statesOf,
} from './derived-record.ts';

/** How much a piece may be at most. */
export interface PieceSize {
  /** Blocks whose rows are counted; fewer where they hold more rows than this, down to one. */
  readonly blocks: number;
  readonly rows: number;
  /** Pages of each table of the state that are searched for what is to be deleted. */
  readonly pages: number;
}

/** What a piece was. */
export interface DerivedPiece {
  readonly state: DerivedState;
  readonly status: DerivedRecord['progress']['status'];
  readonly blocks: number;
  readonly rows: number;
}

/** The next piece of a state that is not built. @returns null when there is none */
export async function buildDerivedPiece(
  database: Database,
  chain: Chain,
  datasets: readonly Dataset[],
  size: PieceSize,
): Promise<DerivedPiece | null> {
  if (findUnbuilt(datasets, await readDerivedRecords(database, chain.id)) === null) return null;
  return database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    const unbuilt = findUnbuilt(datasets, await readDerivedRecords(transaction, chain.id));
    if (unbuilt === null) return null;
    const { state, progress } = unbuilt;
    if (progress.status === 'clearing') return clearPages(transaction, chain, state, progress.page, size.pages);
    return countBlocks(transaction, chain, unbuilt, progress.builtTo, size);
  });
}

interface Unbuilt extends StateOf {
  readonly progress: Exclude<DerivedRecord['progress'], { readonly status: 'built' }>;
}

function findUnbuilt(datasets: readonly Dataset[], records: readonly DerivedRecord[]): Unbuilt | null {
  for (const { dataset, state } of statesOf(datasets)) {
    const progress = hasSubjects(state) ? undefined : recordOf(records, state)?.progress;
    if (progress !== undefined && progress.status !== 'built') return { dataset, state, progress };
  }
  return null;
}

/** Deletes what some pages of the state's tables hold of the chain. Nothing writes there meanwhile: the state counts no rows. */
async function clearPages(
  transaction: Transaction,
  chain: Chain,
  state: DerivedState,
  from: number,
  pages: number,
): Promise<DerivedPiece> {
  const to = from + pages;
  let isCleared = true;
  for (const table of state.tables) {
    if (await isDistributed(transaction, table)) {
      // Its pages lie in shards, each of which counts its own.
      await transaction.query(`DELETE FROM ${table} WHERE chain_id = $1`, [chain.id]);
      continue;
    }
    await transaction.query(
      `DELETE FROM ${table} WHERE chain_id = $1 AND ctid >= '(${from},0)'::tid AND ctid < '(${to},0)'::tid`,
      [chain.id],
    );
    const [size] = await transaction.query<{ is_longer: boolean }>(
      `SELECT pg_relation_size($1::regclass) > $2::bigint * current_setting('block_size')::bigint AS is_longer`,
      [table, to],
    );
    if (size?.is_longer === true) isCleared = false;
  }
  const progress = isCleared
    ? ({ status: 'building', builtTo: NO_BLOCK } as const)
    : ({ status: 'clearing', page: to } as const);
  await saveDerivedProgress(transaction, chain.id, state, progress, 0);
  return { state, status: progress.status, blocks: 0, rows: 0 };
}

const NO_BLOCK = -1;

/** Counts the rows of the next blocks; with the last of them all that are above, however far. */
async function countBlocks(
  transaction: Transaction,
  chain: Chain,
  { dataset, state }: Unbuilt,
  builtTo: number,
  size: PieceSize,
): Promise<DerivedPiece> {
  const { table } = dataset;
  const { blocks, to } = await nextBlocks(transaction, chain, dataset, builtTo, size);
  const source = `SELECT ${table.columns.join(', ')} FROM ${table.name} WHERE ${ROWS_BETWEEN}`;
  const values = [chain.id, builtTo, to ?? topOf(dataset)];
  const rows = await countSelected(transaction, { dataset, state }, EVERYTHING, { source, values });
  const progress = to === null ? ({ status: 'built' } as const) : ({ status: 'building', builtTo: to } as const);
  await saveDerivedProgress(transaction, chain.id, state, progress, rows);
  return { state, status: progress.status, blocks, rows };
}

const ROWS_BETWEEN = 'chain_id = $1 AND block_number > $2 AND block_number <= $3';

/** Above every block, of the type of the table's heights. */
function topOf({ table }: Dataset): number {
  return table.isPartitioned ? PARTITION_TOP : Number.MAX_SAFE_INTEGER;
}

/** The blocks that the next piece counts, from the one above `builtTo` up to `to`; null: those are the last, and all above. */
async function nextBlocks(
  transaction: Transaction,
  chain: Chain,
  dataset: Dataset,
  builtTo: number,
  size: PieceSize,
): Promise<{ readonly blocks: number; readonly to: number | null }> {
  for (let most = size.blocks; ; most = Math.ceil(most / 4)) {
    const [next] = await transaction.query<{ blocks: number; last: number | null }>(
      `SELECT count(*) AS blocks, max(block_number) AS last FROM (
         SELECT block_number FROM blocks WHERE chain_id = $1 AND block_number > $2 ORDER BY block_number LIMIT $3) AS next`,
      [chain.id, builtTo, most],
    );
    const blocks = next?.blocks ?? 0;
    const to = blocks < most ? null : (next?.last ?? null);
    if (most === 1) return { blocks, to };
    const [found] = await transaction.query<{ rows: number }>(
      `SELECT count(*) AS rows FROM (SELECT 1 FROM ${dataset.table.name} WHERE ${ROWS_BETWEEN} LIMIT $4) AS held`,
      [chain.id, builtTo, to ?? topOf(dataset), size.rows + 1],
    );
    if ((found?.rows ?? 0) <= size.rows) return { blocks, to };
  }
}
