import { createLogger, type Logger } from '@chainstead/core';
import { migrate } from '@chainstead/db';
import { missingBulkIndexes } from '@chainstead/sync';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { type Configuration, ROLE_NAMES, type RoleName } from '../configuration/index.ts';
import { configurationFile, readConfiguration } from '../read-configuration.ts';
import { runRoles } from '../run-roles.ts';
import { renderStartSummary } from '../start-summary.ts';
import { openStorage, type Storage } from '../storage.ts';
import { UsageError } from '../usage-error.ts';

/** Runs the program until the context's signal aborts. */
export async function start(
  options: { readonly roles?: string },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const { configuration } = readConfiguration(command, context);
  const roles = options.roles === undefined ? configuration.roles : parseRoles(options.roles);
  const logger = createLogger({ level: configuration.logLevel, role: 'start' });
  const storage = await openStorage({
    configuration: configuration.database,
    applicationName: 'chainstead start',
    logger,
  });
  try {
    if (!storage.isEmbedded) await migrate(storage.database, { logger });
    await warnOfMissingIndexes(storage, configuration, logger);
    await runRoles({
      roles,
      configuration,
      configurationFile: configurationFile(command, context),
      storage,
      logger,
      context,
      // For people; standard output is the log's, one JSON line each.
      onReady: (ready) => context.stderr.write(renderStartSummary({ configuration, storage, roles, ready })),
    });
  } finally {
    await storage.close();
  }
}

/** An index takes hours on a large table: a start says that it is missing, and never builds it. */
async function warnOfMissingIndexes({ database }: Storage, { datasets }: Configuration, logger: Logger): Promise<void> {
  const missing = await missingBulkIndexes(database, datasets);
  if (missing.length > 0)
    logger.warn({ indexes: missing }, 'Indexes are missing since a bulk backfill: run "chainstead indexes"');
}

function parseRoles(text: string): RoleName[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  const roles = names.flatMap((name) => ROLE_NAMES.filter((role) => role === name));
  if (roles.length === 0 || roles.length !== names.length)
    throw new UsageError(`--roles ${text} is not understood`, `Give a comma list of ${ROLE_NAMES.join(', ')}`, {
      given: text,
    });
  return roles;
}
