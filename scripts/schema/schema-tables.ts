import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type DeclaredTable, declaredTables } from '@chainstead/db/table-storage';
import { REPOSITORY_ROOT } from '../check/source-files.ts';

/** Where tables are described, from the repository root. */
const SCHEMA_FILES = ['{apps/*,packages/*/*}/src/**/schema.ts', 'apps/chainstead/src/datasets/manifests.ts'];

/** Every table with a declared storage, in the order of names. */
export async function readDeclaredTables(): Promise<readonly DeclaredTable[]> {
  for (const path of globSync(SCHEMA_FILES, { cwd: REPOSITORY_ROOT }))
    await import(pathToFileURL(join(REPOSITORY_ROOT, path)).href);
  return declaredTables();
}
