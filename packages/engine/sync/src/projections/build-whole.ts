/** Builds projections without subjects, under the commit lock: each row is counted once. */
import type { Chain } from '@chainstead/chains';
import { type Database, isDistributed, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import { getTableName } from 'drizzle-orm';
import type { Dataset } from '../dataset/dataset.ts';
import { hasSubjects, type Projection } from '../dataset/projection.ts';
import { PARTITION_TOP } from '../partitions/read-partitions.ts';
import { lockChainCommits } from '../rows/commit-retry.ts';
import { NO_SUBJECT, type ProjectionOf } from './counted-rows.ts';
import { countSelected } from './derive-changes.ts';
import {
  type ProjectionRecord,
  projectionsOf,
  readProjectionRecords,
  recordOf,
  saveProjectionProgress,
} from './projection-record.ts';

export interface PieceSize {
  readonly blocks: number;
  readonly rows: number;
  /** Per table of the state, searched for rows to delete. */
  readonly pages: number;
}

export interface ProjectionPiece {
  readonly state: Projection;
  readonly status: ProjectionRecord['progress']['status'];
  readonly blocks: number;
  readonly rows: number;
}

/** Null if all states are built. */
export async function buildProjectionPiece(
  database: Database,
  chain: Chain,
  datasets: readonly Dataset[],
  size: PieceSize,
): Promise<ProjectionPiece | null> {
  if (findUnbuilt(datasets, await readProjectionRecords(database, chain.id)) === null) return null;
  return database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    const unbuilt = findUnbuilt(datasets, await readProjectionRecords(transaction, chain.id));
    if (unbuilt === null) return null;
    const { state, progress } = unbuilt;
    if (progress.status === 'clearing') return clearPages(transaction, chain, state, progress.page, size.pages);
    return countBlocks(transaction, chain, unbuilt, progress.builtTo, size);
  });
}

interface Unbuilt extends ProjectionOf {
  readonly progress: Exclude<ProjectionRecord['progress'], { readonly status: 'built' }>;
}

function findUnbuilt(datasets: readonly Dataset[], records: readonly ProjectionRecord[]): Unbuilt | null {
  for (const { dataset, state } of projectionsOf(datasets)) {
    const progress = hasSubjects(state) ? undefined : recordOf(records, state)?.progress;
    if (progress !== undefined && progress.status !== 'built') return { dataset, state, progress };
  }
  return null;
}

async function clearPages(
  transaction: Transaction,
  chain: Chain,
  state: Projection,
  from: number,
  pages: number,
) {
  const to = from + pages;
  let isCleared = true;
  for (const table of state.tables.map(getTableName)) {
    if (await isDistributed(transaction, table)) {
      // Its pages are in shards, each with its own page numbers.
      await transaction.query(sql`DELETE FROM ${rawSql(table)} WHERE chain_id = ${chain.id}`);
      continue;
    }
    await transaction.query(
      sql`DELETE FROM ${rawSql(table)} WHERE chain_id = ${chain.id} AND ctid >= '(${rawSql(from)},0)'::tid AND ctid < '(${rawSql(to)},0)'::tid`,
    );
    const [size] = await transaction.query<{ isLonger: boolean }>(
      sql`SELECT pg_relation_size(${table}::regclass) > ${to}::bigint * current_setting('block_size')::bigint AS "isLonger"`,
    );
    if (size?.isLonger === true) isCleared = false;
  }
  const progress = isCleared
    ? ({ status: 'building', builtTo: NO_BLOCK } as const)
    : ({ status: 'clearing', page: to } as const);
  await saveProjectionProgress(transaction, chain.id, state, progress, 0);
  return { state, status: progress.status, blocks: 0, rows: 0 };
}

const NO_BLOCK = -1;

/** The last piece also counts all higher blocks. */
async function countBlocks(
  transaction: Transaction,
  chain: Chain,
  { dataset, state }: Unbuilt,
  builtTo: number,
  size: PieceSize,
): Promise<ProjectionPiece> {
  const { table } = dataset;
  const { blocks, to } = await nextBlocks(transaction, chain, dataset, builtTo, size);
  const selected = sql`SELECT ${rawSql(table.columns.join(', '))} FROM ${rawSql(table.name)} WHERE ${rowsBetween(chain, builtTo, to ?? topOf(dataset))}`;
  const rows = await countSelected(transaction, { dataset, state }, NO_SUBJECT, selected);
  const progress = to === null ? ({ status: 'built' } as const) : ({ status: 'building', builtTo: to } as const);
  await saveProjectionProgress(transaction, chain.id, state, progress, rows);
  return { state, status: progress.status, blocks, rows };
}

function rowsBetween(chain: Chain, above: number, to: number): Sql {
  return sql`chain_id = ${chain.id} AND block_number > ${above} AND block_number <= ${to}`;
}

function topOf({ table }: Dataset): number {
  return table.isPartitioned ? PARTITION_TOP : Number.MAX_SAFE_INTEGER;
}

/** Null: the last piece, without an upper bound. */
async function nextBlocks(
  transaction: Transaction,
  chain: Chain,
  dataset: Dataset,
  builtTo: number,
  size: PieceSize,
) {
  for (let blocksMax = size.blocks; ; blocksMax = Math.ceil(blocksMax / 4)) {
    const [next] = await transaction.query<{ blocks: number; last: number | null }>(
      sql`SELECT count(*) AS blocks, max(block_number) AS last FROM (
         SELECT block_number FROM blocks WHERE chain_id = ${chain.id} AND block_number > ${builtTo} ORDER BY block_number LIMIT ${blocksMax}) AS next`,
    );
    const blocks = next?.blocks ?? 0;
    const to = blocks < blocksMax ? null : (next?.last ?? null);
    if (blocksMax === 1) return { blocks, to };
    const [counted] = await transaction.query<{ rows: number }>(
      sql`SELECT count(*) AS rows FROM (SELECT 1 FROM ${rawSql(dataset.table.name)}
        WHERE ${rowsBetween(chain, builtTo, to ?? topOf(dataset))} LIMIT ${size.rows + 1}) AS counted`,
    );
    if ((counted?.rows ?? 0) <= size.rows) return { blocks, to };
  }
}
