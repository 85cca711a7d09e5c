import {
  type ColumnOf,
  type ColumnsOf,
  columnList,
  columnsAs,
  joinSql,
  namesOf,
  rawSql,
  type Sql,
  sql,
  tableName,
} from '@chainstead/db';
import type { PgTable } from 'drizzle-orm/pg-core';
import {
  joinSubjects,
  type Projection,
  type ProjectionSubjects,
  type RowsChange,
  type SubjectProjection,
} from '../dataset/projection.ts';

export interface Sums<Source extends PgTable, Target extends PgTable>
  extends Pick<Projection, 'name' | 'version'> {
  readonly source: Source;
  readonly table: Target;
  /** Properties of both tables. */
  readonly key: readonly (ColumnOf<Source> & ColumnOf<Target>)[];
  /** Added by each row to the other columns; never null. */
  readonly sums: Readonly<Partial<Record<ColumnOf<Target>, (row: ColumnsOf<Source>) => Sql>>>;
  /** @default all rows are counted */
  where?(row: ColumnsOf<Source>): Sql;
}

/** A key without rows stays, with zeros. Example: "Add a projection" in CONTRIBUTING.md. */
export function defineSums<Source extends PgTable, Target extends PgTable>(
  sums: Sums<Source, Target> & { readonly subjects: ProjectionSubjects },
): SubjectProjection;
export function defineSums<Source extends PgTable, Target extends PgTable>(
  sums: Sums<Source, Target>,
): Projection;
export function defineSums<Source extends PgTable, Target extends PgTable>(
  options: Sums<Source, Target> & { readonly subjects?: ProjectionSubjects },
): Projection {
  const { name, version, table, subjects } = options;
  return {
    name,
    version,
    tables: [table],
    ...(subjects === undefined ? {} : { subjects }),
    added: (change) => [addSums(options, change, rawSql(''))],
    removed: (change) => [addSums(options, change, rawSql('-'))],
  };
}

function addSums<Source extends PgTable, Target extends PgTable>(
  options: Sums<Source, Target> & { readonly subjects?: ProjectionSubjects },
  change: RowsChange,
  sign: Sql,
): Sql {
  const { source, table, key, sums, where } = options;
  const row = columnsAs(source, 'changed');
  const entries = Object.entries<((row: ColumnsOf<Source>) => Sql) | undefined>(sums);
  const columns = entries.map(([property]) => property as ColumnOf<Target>);
  const values = entries.flatMap(([, read]) => (read === undefined ? [] : [sql`sum(${sign}(${read(row)}))`]));
  const keys = columnList(source, key, 'changed');
  const added = namesOf(table, columns).map((column) =>
    rawSql(`${column} = stored.${column} + excluded.${column}`),
  );
  return sql`INSERT INTO ${tableName(table)} AS stored (${columnList(table, key)}, ${columnList(table, columns)})
SELECT ${keys}, ${joinSql(values)} FROM ${change.rows} AS changed${joined(options, change, row)}
${where === undefined ? rawSql('') : sql`WHERE ${where(row)} `}GROUP BY ${keys} ORDER BY ${keys}
ON CONFLICT (${columnList(table, key)}) DO UPDATE SET ${joinSql(added)}`;
}

/** The key column that is the subject column of the projection's table. */
function joined<Source extends PgTable, Target extends PgTable>(
  { name, table, key, subjects }: Sums<Source, Target> & { readonly subjects?: ProjectionSubjects },
  change: RowsChange,
  row: ColumnsOf<Source>,
): Sql {
  if (subjects === undefined) return rawSql('');
  const subject = key.find((property) => namesOf(table, [property])[0] === subjects.column);
  if (subject === undefined)
    throw new TypeError(`The key of ${name} does not have its subject ${subjects.column}`);
  return sql` ${joinSubjects(change, row[subject], rawSql('changed.block_number'))}`;
}
