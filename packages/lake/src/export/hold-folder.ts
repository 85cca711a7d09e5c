import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Database } from '@chainstead/db';
import { ExportRunningError } from '../errors.ts';
import { type ExportIdentity, exportFolder } from '../manifest/manifest.ts';

/** Keeps other processes from the folder until it is released, or the process ends. @throws ExportRunningError */
export async function holdFolder(
  database: Database,
  out: string,
  identity: ExportIdentity,
): Promise<{ release(): Promise<void> }> {
  const folder = exportFolder(resolve(out), identity);
  const client = database.session();
  await client.connect();
  const { rows } = await client.query<{ is_held: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS is_held',
    [`export ${hostname()}:${folder}`],
  );
  if (rows[0]?.is_held !== true) {
    await client.end();
    throw new ExportRunningError(folder);
  }
  return { release: () => client.end() };
}
