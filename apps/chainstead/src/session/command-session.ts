import { hostname, userInfo } from 'node:os';
import { createLogger, type Logger } from '@chainstead/core';
import type { AuditActor } from '@chainstead/http';
import type { Configuration } from '../configuration/index.ts';
import type { CommandContext } from './command-context.ts';
import { hasDatabase, openStorage, type Storage } from './storage.ts';

export function commandLogger(configuration: Configuration, context: CommandContext): Logger {
  return createLogger({
    level: configuration.logLevel === 'info' ? 'warn' : configuration.logLevel,
    destination: { write: (line) => context.stderr.write(line) },
  });
}

export interface CommandSession {
  readonly configuration: Configuration;
  readonly context: CommandContext;
  readonly name: string;
  /** Whatever the schema's version is. @default false */
  readonly leavesSchema?: boolean;
  /** Creates a missing embedded database, and says so. @default false */
  readonly mayCreate?: boolean;
}

export function openingText({ dataDirectory }: Configuration['database'], verb: 'Creating' | 'Starting'): string {
  return `${verb} the embedded Postgres in ${dataDirectory} …\n`;
}

export async function withStorage<T>(
  session: CommandSession,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  const { context, mayCreate = false } = session;
  const { database } = session.configuration;
  if (mayCreate && !(await hasDatabase(database))) context.stderr.write(openingText(database, 'Creating'));
  const storage = await openStorage({
    configuration: database,
    applicationName: `chainstead ${session.name}`,
    logger: commandLogger(session.configuration, context),
    isQuiet: true,
    leavesSchema: session.leavesSchema ?? false,
    mayCreate,
  });
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

export function commandActor(): AuditActor {
  return { door: 'command', id: `${accountName()}@${hostname()}`, name: null, address: null, requestId: null };
}

/** A container may run as a user without a name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
