import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { storageOf, type TableStorage } from '@chainstead/db/table-storage';
import { getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { REPOSITORY_ROOT } from '../check/source-files.ts';

/** Where tables are described, from the repository root. */
const SCHEMA_FILES = '{apps/*,packages/*/*}/src/**/schema.ts';

export interface DeclaredTable {
  readonly name: string;
  readonly table: PgTable;
  readonly storage: TableStorage;
}

/** Every table with a declared storage, in the order of names. */
export async function readDeclaredTables(): Promise<readonly DeclaredTable[]> {
  const tables = new Set<unknown>();
  for (const path of globSync(SCHEMA_FILES, { cwd: REPOSITORY_ROOT })) {
    const exported: object = await import(pathToFileURL(join(REPOSITORY_ROOT, path)).href);
    for (const value of Object.values(exported)) tables.add(value);
  }
  const declared = [...tables].flatMap((table) => {
    const storage = is(table, PgTable) ? storageOf(table) : undefined;
    return is(table, PgTable) && storage !== undefined ? [{ name: getTableName(table), table, storage }] : [];
  });
  return declared.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
