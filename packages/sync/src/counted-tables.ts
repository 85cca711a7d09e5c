/** Tables whose rows a kept state counts, in SQL. */
import type { Dataset, KeptState } from './dataset.ts';
import type { RowTable } from './row-table.ts';

/** The tables whose rows a state counts: of several datasets where it says so. */
export function countedTables({
  dataset,
  state,
}: {
  readonly dataset: Pick<Dataset, 'table'>;
  readonly state: Pick<KeptState, 'counts'>;
}): readonly [RowTable, ...RowTable[]] {
  const [first = dataset.table, ...others] = state.counts ?? [];
  return [first, ...others];
}

/** A relation of the rows of all of them, which wants an alias: a table's own name where there is one alone. */
export function allRowsOf(tables: readonly [RowTable, ...RowTable[]]): string {
  return together(tables, ({ name }) => name);
}

/** The same of other relations that have the columns of a table each. */
export function together<Table extends Pick<RowTable, 'columns'>>(
  tables: readonly [Table, ...Table[]],
  relationOf: (table: Table) => string,
): string {
  const [first, ...others] = tables;
  if (others.length === 0) return relationOf(first);
  const columns = first.columns.join(', ');
  return `(${tables.map((table) => `SELECT ${columns} FROM ${relationOf(table)}`).join(' UNION ALL ')})`;
}
