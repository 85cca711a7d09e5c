/**
 * Updates projections with the rows that a transaction added and removed. A projection in build has counted rows up to
 * a block (of each subject, if it has subjects). It follows changes up to that block; the build counts later ones from
 * stored rows.
 */
import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import { isSpread, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import type { RowChange } from '../rows/row-changes.ts';
import { fillStagingTable, stagingTableOf } from '../rows/staging-table.ts';
import { runProjection } from '../table-access/table-access.ts';
import { builtSubjects, type ProjectionOf, sourceTables, unionOf, upTo } from './counted-rows.ts';
import {
  isCounting,
  type ProjectionRecord,
  projectionsOf,
  readProjectionRecords,
  recordOf,
} from './projection-record.ts';

/**
 * Updates projections with added rows. Call it once for each `addRows`, under the commit lock.
 * @param records the projection records, if they were read under the lock. @default they are read
 */
export function deriveAdded(
  transaction: Transaction,
  chain: Chain,
  changes: readonly RowChange[],
  records?: readonly ProjectionRecord[],
): Promise<void> {
  return derive(transaction, chain, changes, 'added', records);
}

/** Updates projections with removed rows. Call it once for each `removeRows`, under the commit lock. */
export function deriveRemoved(transaction: Transaction, chain: Chain, changes: readonly RowChange[]): Promise<void> {
  return derive(transaction, chain, changes, 'removed');
}

async function derive(
  transaction: Transaction,
  chain: Chain,
  changes: readonly RowChange[],
  kind: 'added' | 'removed',
  known?: readonly ProjectionRecord[],
): Promise<void> {
  const datasets = changes.flatMap(({ dataset, rows }) => (rows > 0 ? [dataset] : []));
  if (datasets.length === 0) return;
  const records = known ?? (await readProjectionRecords(transaction, chain.id));
  const spread = records.some(({ isOnCitus }) => isOnCitus) && (await isSpread(transaction));
  await forgetOthers(transaction, chain.id, datasets, records);
  for (const of of projectionsOf(datasets)) {
    const record = recordOf(records, of.state);
    if (record === undefined || !isCounting(of.state, record)) continue;
    const builtTo = record.progress.status === 'building' ? record.progress.builtTo : null;
    const changed = unionOf(changedTables(of, datasets), (table) => stagingTableOf(table, kind));
    const rows = upTo(changed, chain.id, builtTo);
    const remaining = upTo(unionOf(sourceTables(of)), chain.id, builtTo);
    const subjects = builtSubjects(chain.id, of);
    await runProjection(transaction, spread, (access) =>
      kind === 'added'
        ? of.state.added({ rows, subjects, access })
        : of.state.removed({ rows, subjects, remaining, access }),
    );
  }
}

/** Counts the stored rows that a query selects. @param subjects see `RowsChange` @returns their number */
export async function countSelected(
  transaction: Transaction,
  of: ProjectionOf,
  subjects: Sql,
  selected: Sql,
): Promise<number> {
  const [table] = sourceTables(of);
  const count = await fillStagingTable(transaction, table, 'added', selected);
  const rows = rawSql(stagingTableOf(table, 'added'));
  if (count > 0)
    await runProjection(transaction, await isSpread(transaction), (access) =>
      of.state.added({ rows, subjects, access }),
    );
  return count;
}

/**
 * Returns the tables of the changed datasets that have the state. It follows all of them in one change, because rows of
 * a block belong together.
 */
function changedTables({ dataset, state }: ProjectionOf, datasets: readonly Dataset[]) {
  const others = datasets.filter(
    (other) => other !== dataset && other.projections?.some(({ name }) => name === state.name),
  );
  return [dataset.table, ...others.map(({ table }) => table)] as const;
}

/**
 * Marks states that this version doesn't have, or has in another version: they miss its changes. The version that has
 * them rebuilds them.
 */
async function forgetOthers(
  transaction: Transaction,
  chainId: ChainId,
  datasets: readonly Dataset[],
  records: readonly ProjectionRecord[],
): Promise<void> {
  const names = new Set(datasets.map(({ name }) => name));
  const own = new Set(projectionsOf(datasets).map(({ state }) => recordOf(records, state)));
  const others = records.filter((record) => names.has(record.dataset) && !own.has(record));
  if (others.length === 0) return;
  await transaction.query(
    sql`DELETE FROM projections WHERE chain_id = ${chainId} AND state = ANY(${others.map(({ state }) => state)}::text[])`,
  );
}
