import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getTableColumns } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { REPOSITORY_ROOT } from '../check/source-files.ts';
import type { DeclaredTable } from './schema-tables.ts';

/** A view for SQL clients, from the `analytics.sql` next to a `schema.ts`. */
export interface AnalyticsView {
  /** `analytics.vault_moves`. */
  readonly name: string;
  /** The comment that the file begins with. */
  readonly description: string;
  /** Tables of the schema `public` that it reads. */
  readonly tables: readonly string[];
  readonly text: string;
}

/** In the order of their paths. @throws Error for a file without a comment or a view */
export function readAnalyticsViews(): readonly AnalyticsView[] {
  return globSync('{apps/*,packages/*/*}/src/**/analytics.sql', { cwd: REPOSITORY_ROOT })
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(REPOSITORY_ROOT, path), 'utf8').trim();
      const [, description = ''] = /^-- (.*)/.exec(text) ?? [];
      const [, name = ''] = /^CREATE VIEW (analytics\.\w+) /m.exec(text) ?? [];
      if (description === '' || name === '')
        throw new Error(`${path} has to begin with a comment line and to hold CREATE VIEW analytics.…`);
      return {
        name,
        description,
        tables: [...text.matchAll(/\bpublic\.(\w+)/g)].map(([, table = '']) => table),
        text,
      };
    });
}

/**
 * Adds the columns of a view's own table that its text does not mention, so that a new column is in the views, too. A comment names those that a
 * view leaves out.
 * @param text statements; views over other tables stay as they are
 */
export function withOtherColumns(
  text: string,
  tables: readonly Pick<DeclaredTable, 'name' | 'table' | 'storage'>[],
): string {
  const partitioned = new Map(
    tables.flatMap(({ name, table, storage }) => (storage.isPartitioned ? [[name, table]] : [])),
  );
  return text.replaceAll(
    /^CREATE VIEW [^;]*?^FROM public\.(\w+) AS (\w+)[^;]*;/gm,
    (view, name: string, alias: string) => {
      const table = partitioned.get(name);
      const columns = table === undefined ? [] : Object.values(getTableColumns(table));
      const others = columns.filter((column) => !new RegExp(`\\b${column.name}\\b`).test(view));
      const lines = others.map((column) => `${shownColumn(column, alias)},\n`).join('');
      if (lines !== '' && !STORED.test(view))
        throw new Error(`A view of ${name} has no place for new columns:\n${view}`);
      return view.replace(STORED, (first) => `${lines}${first}`);
    },
  );
}

/** The columns in the form in which they are stored come last. */
const STORED = /^ {2}\w+\.\w+ AS \w+_bytes\b/m;

function shownColumn(column: PgColumn, alias: string): string {
  const stored = `${alias}.${column.name}`;
  return column.getSQLType() === 'bytea' ? `  analytics.hex(${stored}) AS ${column.name}` : `  ${stored}`;
}
