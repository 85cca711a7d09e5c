/** A build counts the blocks above its position; changes below are followed. */

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

/** Once for each `addRows`, under the commit lock. @param records @default read here */
export function deriveAdded(
  transaction: Transaction,
  chain: Chain,
  changes: readonly RowChange[],
  records?: readonly ProjectionRecord[],
): Promise<void> {
  return derive(transaction, chain, changes, 'added', records);
}

/** Once for each `removeRows`, under the commit lock. */
export function deriveRemoved(
  transaction: Transaction,
  chain: Chain,
  changes: readonly RowChange[],
): Promise<void> {
  return derive(transaction, chain, changes, 'removed');
}

async function derive(
  transaction: Transaction,
  chain: Chain,
  changes: readonly RowChange[],
  kind: 'added' | 'removed',
  lockedRecords?: readonly ProjectionRecord[],
): Promise<void> {
  const datasets = changes.flatMap(({ dataset, rows }) => (rows > 0 ? [dataset] : []));
  if (datasets.length === 0) return;
  const records = lockedRecords ?? (await readProjectionRecords(transaction, chain.id));
  const spread = records.some(({ isOnCitus }) => isOnCitus) && (await isSpread(transaction));
  await forgetOthers(transaction, chain.id, datasets, records);
  for (const of of projectionsOf(datasets)) {
    const record = recordOf(records, of.state);
    // Invariant: SYNC-PROJECTIONS-EQUAL
    if (record === undefined || !isCounting(of.state, record)) continue;
    const builtTo = record.progress.status === 'building' ? record.progress.builtTo : null;
    // All changed tables of the state in one change: rows of a block belong together.
    const others = datasets.filter((other) => other !== of.dataset && hasProjection(other, of.state.name));
    const tables = [of.dataset.table, ...others.map(({ table }) => table)] as const;
    const changed = unionOf(tables, (table) => stagingTableOf(table, kind));
    const rows = upTo(changed, chain.id, builtTo);
    const remaining = upTo(unionOf(sourceTables(of)), chain.id, builtTo);
    const subjects = builtSubjects(chain.id, of);
    await runProjection(transaction, spread, (access) => of.state[kind]({ rows, subjects, remaining, access }));
  }
}
const hasProjection = ({ projections = [] }: Dataset, state: string) =>
  projections.some(({ name }) => name === state);

export async function countSelected(transaction: Transaction, of: ProjectionOf, subjects: Sql, selected: Sql) {
  const [table] = sourceTables(of);
  const count = await fillStagingTable(transaction, table, 'added', selected);
  const rows = rawSql(stagingTableOf(table, 'added'));
  if (count > 0)
    await runProjection(transaction, await isSpread(transaction), (access) =>
      of.state.added({ rows, subjects, access }),
    );
  return count;
}

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
