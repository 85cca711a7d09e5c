import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasRunningServer } from '@chainstead/db/server';
import type { Configuration } from '../configuration/index.ts';
import type { CommandContext, Invocation, JsonOption } from './command-context.ts';
import { withStorage } from './command-session.ts';
import { readDatabaseConfiguration } from './read-configuration.ts';
import { hasDatabase, noDatabase, type Storage } from './storage.ts';

type Work = (storage: Storage, configuration: Configuration) => Promise<void>;

export async function withDatabase(
  { command, context }: Invocation,
  name: string,
  work: Work,
  { mayCreate = false }: { readonly mayCreate?: boolean } = {},
): Promise<void> {
  const configuration = readDatabaseConfiguration(command, context);
  await withStorage({ configuration, context, name, mayCreate }, (storage) => work(storage, configuration));
}

/** A running demo's if none is configured. @param output where its name is shown */
export async function withFoundDatabase(
  { command, context }: Invocation,
  name: string,
  work: Work,
  {
    output = 'json',
    leavesSchema = false,
  }: { readonly output?: 'text' | 'json'; readonly leavesSchema?: boolean } = {},
): Promise<void> {
  const configuration = await findDatabase(readDatabaseConfiguration(command, context), context, output);
  await withStorage({ configuration, context, name, leavesSchema }, (storage) => work(storage, configuration));
}

export function writeShown({ options, context }: Invocation<JsonOption>, json: unknown, text: string): void {
  context.stdout.write(options.json === true ? `${JSON.stringify(json)}\n` : text);
}

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
