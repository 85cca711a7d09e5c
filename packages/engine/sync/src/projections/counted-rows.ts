import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import type { Projection } from '../dataset/projection.ts';
import type { RowTable } from '../dataset/row-table.ts';

export interface ProjectionOf<State extends Projection = Projection> {
  readonly dataset: Dataset;
  readonly state: State;
}

export function sourceTables({ dataset, state }: ProjectionOf): readonly [RowTable, ...RowTable[]] {
  const [first = dataset.table, ...others] = state.sources ?? [];
  return [first, ...others];
}

/** The expression needs an alias. */
export function unionOf(
  tables: readonly [RowTable, ...RowTable[]],
  relationOf: (table: RowTable) => string = ({ name }) => name,
): Sql {
  const [first, ...others] = tables;
  if (others.length === 0) return rawSql(relationOf(first));
  const columns = first.columns.join(', ');
  return rawSql(`(${tables.map((table) => `SELECT ${columns} FROM ${relationOf(table)}`).join(' UNION ALL ')})`);
}

/** `builtTo` null: all rows. */
export function upTo(relation: Sql, chainId: ChainId, builtTo: number | null): Sql {
  if (builtTo === null) return relation;
  return sql`(SELECT * FROM ${relation} AS every WHERE chain_id = ${chainId} AND block_number <= ${builtTo})`;
}

/** Higher than every block number. */
const ALL_BLOCKS = rawSql(String(Number.MAX_SAFE_INTEGER));

/** Subjects that follow changes; needs an alias. */
export function builtSubjects(chainId: ChainId, { state }: ProjectionOf): Sql {
  if (state.subjects === undefined) return NO_SUBJECT;
  return sql`(SELECT subject, coalesce(built_to, ${ALL_BLOCKS}) AS built_to FROM subject_projections
    WHERE chain_id = ${chainId} AND state = ${state.name} AND NOT is_stale)`;
}

export function subjectsIn(subjects: readonly Address[]): Sql {
  return sql`(SELECT subject, ${ALL_BLOCKS} AS built_to FROM unnest(${subjects.map(addressBytes)}::bytea[]) AS requested(subject))`;
}

export const NO_SUBJECT = sql`(SELECT NULL::bytea AS subject, ${ALL_BLOCKS} AS built_to)`;

export function rowsOfSubject(
  of: ProjectionOf,
  conditions: readonly Sql[],
  {
    chainId,
    columns,
    where = rawSql(''),
  }: { readonly chainId: ChainId; readonly columns: Sql; readonly where?: Sql },
): Sql {
  const queries = sourceTables(of).flatMap(({ name }) => {
    const ofChain = sql`SELECT ${columns} FROM ${rawSql(name)} WHERE chain_id = ${chainId} ${where}`;
    return conditions.map((condition) => sql`${ofChain} AND (${condition})`);
  });
  return joinSql(queries, ' UNION ALL ');
}
