/**
 * Lets derived states follow the rows that a transaction added and removed. A state that is still being built counts the rows up
 * to a block, so it follows the changes up to there; those above are in the rows when the build gets to them.
 */
import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import { isSpread, type Transaction } from '@chainstead/db';
import { allRowsOf, countedTables, together } from '../counted-tables.ts';
import type { Dataset, KeptState } from '../dataset.ts';
import { runDerived } from '../reading.ts';
import type { RowChange } from '../row-changes.ts';
import { fillStagingTable, stagingTableOf } from '../staging-table.ts';
import { type DerivedRecord, keptStatesOf, readDerivedRecords, recordOf } from './derived-record.ts';

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
  for (const dataset of datasets) {
    await forgetOthers(transaction, chain.id, dataset, records);
    for (const state of dataset.derived ?? []) {
      const record = recordOf(records, state);
      if (record === undefined || record.progress.status === 'clearing') continue;
      const builtTo = record.progress.status === 'built' ? null : record.progress.builtTo;
      const rows =
        builtTo === null ? stagingTableOf(dataset.table, kind) : await changesUpTo(transaction, dataset, kind, builtTo);
      const counted = countedRows(dataset, chain.id, builtTo);
      await runDerived(transaction, spread, (reading) => state[kind](rows, counted, reading));
    }
  }
  await deriveKept(transaction, chain.id, datasets, kind, { records, spread });
}

/**
 * The same for what is kept of single subjects, each of which counts the rows up to a block of its own. A state of several datasets follows
 * the changes of all of them at once: within a block they belong together.
 */
async function deriveKept(
  transaction: Transaction,
  chainId: ChainId,
  datasets: readonly Dataset[],
  kind: 'added' | 'removed',
  { records, spread }: { readonly records: readonly DerivedRecord[]; readonly spread: boolean },
): Promise<void> {
  for (const { dataset, state } of keptStatesOf(datasets)) {
    if (recordOf(records, state)?.hasSubjects !== true) continue;
    const others = datasets.filter((other) => other !== dataset && other.kept?.some(({ name }) => name === state.name));
    const rows = together([dataset.table, ...others.map(({ table }) => table)], (table) => stagingTableOf(table, kind));
    const kept = keptSubjectsOf(chainId, state);
    await runDerived(transaction, spread, (reading) =>
      kind === 'added'
        ? state.added(rows, kept, reading)
        : state.removed(rows, kept, allRowsOf(countedTables({ dataset, state })), reading),
    );
  }
}

/** The subjects of a state, as a relation that wants an alias. */
function keptSubjectsOf(chainId: ChainId, { name }: KeptState): string {
  return `(SELECT subject, coalesce(built_to, ${Number.MAX_SAFE_INTEGER}) AS built_to FROM kept_subjects
    WHERE chain_id = ${chainId} AND state = '${name}' AND NOT is_stale)`;
}

/**
 * States of the dataset that this program does not know, or knows in another version, do not follow what it changes. They are
 * built again by the program that knows them.
 */
async function forgetOthers(
  transaction: Transaction,
  chainId: ChainId,
  { name, derived = [], kept = [] }: Dataset,
  records: readonly DerivedRecord[],
): Promise<void> {
  const own = new Set([...derived, ...kept].map((state) => recordOf(records, state)));
  const others = records.filter((record) => record.dataset === name && !own.has(record));
  if (others.length === 0) return;
  await transaction.query('DELETE FROM derived_states WHERE chain_id = $1 AND state = ANY($2::text[])', [
    chainId,
    others.map(({ state }) => state),
  ]);
}

/** The name of a relation of those changed rows that the state counts. */
async function changesUpTo(
  transaction: Transaction,
  { table }: Dataset,
  kind: 'added' | 'removed',
  builtTo: number,
): Promise<string> {
  const source = `SELECT ${table.columns.join(', ')} FROM ${stagingTableOf(table, kind)} WHERE block_number <= $1`;
  await fillStagingTable(transaction, table, 'counted', source, [builtTo]);
  return stagingTableOf(table, 'counted');
}

/** The rows of the dataset's table that a state counts, as a relation that wants an alias. @param builtTo null: all */
export function countedRows({ table }: Dataset, chainId: ChainId, builtTo: number | null): string {
  if (builtTo === null) return table.name;
  return `(SELECT * FROM ${table.name} WHERE chain_id = ${chainId} AND block_number <= ${builtTo})`;
}
