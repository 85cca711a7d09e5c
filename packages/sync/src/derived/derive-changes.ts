/**
 * Lets derived states follow the rows that a transaction added and removed. A state that is still being built counts the rows up
 * to a block, of each of its subjects if it has some. It follows the changes up to there; those above are in the rows when the
 * build gets to them.
 */
import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import { isSpread, type Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset.ts';
import { runDerived } from '../reading.ts';
import type { RowChange } from '../row-changes.ts';
import { fillStagingTable, stagingTableOf } from '../staging-table.ts';
import { countedTables, EVERYTHING, type StateOf, together, upTo } from './counted-rows.ts';
import { type DerivedRecord, isCounting, readDerivedRecords, recordOf, statesOf } from './derived-record.ts';

/**
 * Lets the derived states follow the rows that were added. Once for each `addRows`, under the commit lock.
 * @param records what is known of the states, where it was read under the lock. @default it is read
 */
export function deriveAdded(
  transaction: Transaction,
  chain: Chain,
  changes: readonly RowChange[],
  records?: readonly DerivedRecord[],
): Promise<void> {
  return derive(transaction, chain, changes, 'added', records);
}

/** Lets the derived states follow the rows that were removed. Once for each `removeRows`, under the commit lock. */
export function deriveRemoved(transaction: Transaction, chain: Chain, changes: readonly RowChange[]): Promise<void> {
  return derive(transaction, chain, changes, 'removed');
}

async function derive(
  transaction: Transaction,
  chain: Chain,
  changes: readonly RowChange[],
  kind: 'added' | 'removed',
  known?: readonly DerivedRecord[],
): Promise<void> {
  const datasets = changes.flatMap(({ dataset, rows }) => (rows > 0 ? [dataset] : []));
  if (datasets.length === 0) return;
  const records = known ?? (await readDerivedRecords(transaction, chain.id));
  const spread = records.some(({ isOnCitus }) => isOnCitus) && (await isSpread(transaction));
  await forgetOthers(transaction, chain.id, datasets, records);
  for (const of of statesOf(datasets)) {
    const record = recordOf(records, of.state);
    if (record === undefined || !isCounting(of.state, record)) continue;
    const builtTo = record.progress.status === 'building' ? record.progress.builtTo : null;
    const changed = together(changedTables(of, datasets), (table) => stagingTableOf(table, kind));
    const rows = upTo(changed, chain.id, builtTo);
    const counted = upTo(together(countedTables(of)), chain.id, builtTo);
    const kept = keptOf(chain.id, of);
    await runDerived(transaction, spread, (reading) =>
      kind === 'added' ? of.state.added(rows, kept, reading) : of.state.removed(rows, kept, counted, reading),
    );
  }
}

/** Counts the rows that a query selects from those that are there. @param kept see `DerivedState` @returns how many */
export async function countSelected(
  transaction: Transaction,
  of: StateOf,
  kept: string,
  { source, values }: { readonly source: string; readonly values: readonly unknown[] },
): Promise<number> {
  const [table] = countedTables(of);
  const rows = await fillStagingTable(transaction, table, 'added', source, values);
  const added = stagingTableOf(table, 'added');
  if (rows > 0)
    await runDerived(transaction, await isSpread(transaction), (reading) => of.state.added(added, kept, reading));
  return rows;
}

/** The tables of the changed datasets that have the state: it follows all of them at once, since within a block they belong together. */
function changedTables({ dataset, state }: StateOf, datasets: readonly Dataset[]) {
  const others = datasets.filter(
    (other) => other !== dataset && other.derived?.some(({ name }) => name === state.name),
  );
  return [dataset.table, ...others.map(({ table }) => table)] as const;
}

/** The subjects of a state that follow changes, as a relation that wants an alias. */
function keptOf(chainId: ChainId, { state }: StateOf): string {
  if (state.subjects === undefined) return EVERYTHING;
  return `(SELECT subject, coalesce(built_to, ${Number.MAX_SAFE_INTEGER}) AS built_to FROM kept_subjects
    WHERE chain_id = ${chainId} AND state = '${state.name}' AND NOT is_stale)`;
}

/**
 * States of the datasets that this program does not know, or knows in another version, do not follow what it changes. They are
 * built again by the program that knows them.
 */
async function forgetOthers(
  transaction: Transaction,
  chainId: ChainId,
  datasets: readonly Dataset[],
  records: readonly DerivedRecord[],
): Promise<void> {
  const names = new Set(datasets.map(({ name }) => name));
  const own = new Set(statesOf(datasets).map(({ state }) => recordOf(records, state)));
  const others = records.filter((record) => names.has(record.dataset) && !own.has(record));
  if (others.length === 0) return;
  await transaction.query('DELETE FROM derived_states WHERE chain_id = $1 AND state = ANY($2::text[])', [
    chainId,
    others.map(({ state }) => state),
  ]);
}
