import { createLogger, type Logger } from '@chainstead/core';
import type { Configuration } from '../configuration/index.ts';
import type { CommandContext } from './command-context.ts';
import { openStorage, type Storage } from './storage.ts';

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
}

export async function withStorage<T>(
  session: CommandSession,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  const storage = await openStorage({
    configuration: session.configuration.database,
    applicationName: `chainstead ${session.name}`,
    logger: commandLogger(session.configuration, session.context),
    isQuiet: true,
    leavesSchema: session.leavesSchema ?? false,
  });
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}
