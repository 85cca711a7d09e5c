import type { Configuration } from '../configuration/index.ts';
import type { Invocation, JsonOption } from './command-context.ts';
import { withStorage } from './command-session.ts';
import { findDatabase } from './find-database.ts';
import { readDatabaseConfiguration } from './read-configuration.ts';
import type { Storage } from './storage.ts';

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
