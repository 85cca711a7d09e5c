/** The relations that statements of a derived state read, in SQL. */
import type { ChainId } from '@chainstead/core';
import type { Dataset, DerivedState } from '../dataset.ts';
import type { RowTable } from '../row-table.ts';

/** A state and the dataset whose rows it counts: one of them if it counts those of several (`counts`). */
export interface StateOf<State extends DerivedState = DerivedState> {
  readonly dataset: Dataset;
  readonly state: State;
}

/** The tables whose rows a state counts. */
export function countedTables({ dataset, state }: StateOf): readonly [RowTable, ...RowTable[]] {
  const [first = dataset.table, ...others] = state.counts ?? [];
  return [first, ...others];
}

/**
 * A relation of the rows of several tables with the same columns, as an expression that wants an alias.
 * @param relationOf the relation of one table's rows. @default the table
 */
export function together(
  tables: readonly [RowTable, ...RowTable[]],
  relationOf: (table: RowTable) => string = ({ name }) => name,
): string {
  const [first, ...others] = tables;
  if (others.length === 0) return relationOf(first);
  const columns = first.columns.join(', ');
  return `(${tables.map((table) => `SELECT ${columns} FROM ${relationOf(table)}`).join(' UNION ALL ')})`;
}

/** Those of a relation's rows of the chain that lie up to a block. @param builtTo null: all */
export function upTo(relation: string, chainId: ChainId, builtTo: number | null): string {
  if (builtTo === null) return relation;
  return `(SELECT * FROM ${relation} AS every WHERE chain_id = ${chainId} AND block_number <= ${builtTo})`;
}

/** The `kept` relation of subjects of which all rows are counted. @param subjects SQL of their 20 bytes each */
export function subjectsIn(subjects: readonly string[]): string {
  return `(SELECT subject, ${Number.MAX_SAFE_INTEGER} AS built_to FROM unnest(ARRAY[${subjects.join(', ')}]::bytea[]) AS given(subject))`;
}

/** The `kept` relation of a state without subjects. */
export const EVERYTHING = `(SELECT NULL::bytea AS subject, ${Number.MAX_SAFE_INTEGER} AS built_to)`;
