import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasRunningServer } from '@chainstead/db/server';
import type { Configuration } from '../configuration/index.ts';
import type { CommandContext } from './command-context.ts';
import { hasDatabase, noDatabase } from './storage.ts';

export const DEMO_FOLDER_PREFIX = 'chainstead-demo-';

/** Configured, or of a running demo, which is named in the output. @throws UsageError */
export async function findDatabase(
  configuration: Configuration,
  context: CommandContext,
  output: 'text' | 'json' = 'json',
): Promise<Configuration> {
  const { dataDirectory } = configuration.database;
  if (await hasDatabase(configuration.database)) return configuration;
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(DEMO_FOLDER_PREFIX));
  const folders = names.map((name) => join(tmpdir(), name));
  const running = await Promise.all(folders.map(hasRunningServer));
  const demo = folders.find((_folder, index) => running[index] === true);
  if (demo === undefined) throw noDatabase(configuration.database);
  const notes = output === 'text' ? context.stdout : context.stderr;
  notes.write(`There is no database in ${dataDirectory}. Using the running demo (DATA_DIR=${demo}).\n`);
  return { ...configuration, database: { ...configuration.database, dataDirectory: demo } };
}
