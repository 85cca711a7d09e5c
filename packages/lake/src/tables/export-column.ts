import { rawSql, type Sql, sql } from '@chainstead/db';
import type { RowTable } from '@chainstead/sync';

type ColumnType = NonNullable<ReturnType<RowTable['types']['get']>>;

export type ColumnKind = 'int32' | 'int64' | 'double' | 'boolean' | 'bytes' | 'text' | 'timestamp';

export interface ExportColumn {
  readonly name: string;
  /** Yields the value in the binary format of `kind`. Null: the time of the row's block. */
  readonly expression: Sql | null;
  readonly postgres: string;
  readonly kind: ColumnKind;
  readonly isNullable: boolean;
}

/** Time of the block, for tables without a time. Null if the header is not stored. */
export const BLOCK_TIME: ExportColumn = {
  name: 'block_time',
  expression: null,
  postgres: 'timestamp with time zone',
  kind: 'timestamp',
  isNullable: true,
};

export function exportColumn(column: string, { type, isRequired }: ColumnType, name: string = column): ExportColumn {
  const { kind, expression } = conversionOf(type, quoted(column));
  return { name, expression, postgres: type, kind, isNullable: !isRequired };
}

export function quoted(name: string): Sql {
  return rawSql(`"${name.replaceAll('"', '""')}"`);
}

const KINDS: Readonly<Record<string, ColumnKind>> = {
  integer: 'int32',
  bigint: 'int64',
  'double precision': 'double',
  boolean: 'boolean',
  bytea: 'bytes',
  text: 'text',
  'timestamp with time zone': 'timestamp',
};

function conversionOf(type: string, column: Sql): { readonly kind: ColumnKind; readonly expression: Sql } {
  const kind = KINDS[type];
  if (kind !== undefined) return { kind, expression: column };
  if (type === 'smallint') return { kind: 'int32', expression: sql`${column}::integer` };
  if (type === 'real') return { kind: 'double', expression: sql`${column}::double precision` };
  // Elements as JSON texts: numbers of 78 digits stay exact.
  if (type.endsWith('[]')) return { kind: 'text', expression: sql`array_to_json(${column}::text[])::text` };
  // Parquet's decimals end at 38 digits, and uint256 has 78.
  return { kind: 'text', expression: sql`${column}::text` };
}
