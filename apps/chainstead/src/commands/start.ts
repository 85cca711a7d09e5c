import { availableParallelism } from 'node:os';
import { createLogger, type Logger } from '@chainstead/core';
import { migrate, readConnectionRoom, redactConnectionString, waitingTables } from '@chainstead/db/server';
import {
  assertSafeBinding,
  createKeyStore,
  isLoopbackName,
  type KeyStore,
  UnsafeBindingError,
} from '@chainstead/http/server';
import { missingBulkIndexes, requireDatasetTables } from '@chainstead/sync/ingest';
import type { Configuration, RoleName } from '../configuration/index.ts';
import { readContractsFile } from '../contracts-file/contracts-file.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import { openingText } from '../session/command-session.ts';
import { configurationFile, readConfiguration } from '../session/read-configuration.ts';
import { DatabaseUnreachableError, hasDatabase, openStorage, type Storage } from '../session/storage.ts';
import {
  connectionShortage,
  connectionsNeeded,
  type RoleSlot,
  renderRoles,
  selectRoles,
  slotsOf,
} from '../shares/role-slot.ts';
import {
  reportChangedChains,
  requireFreePorts,
  withAnalystUrl,
  writeFirstAdminKey,
} from '../start/check-ports.ts';
import { onceDatabaseAnswers, runRoles } from '../start/run-roles.ts';
import { renderStartSummary, surveyUpstreams } from '../start/start-summary.ts';

const APPLICATION_NAME = 'chainstead start';

export async function start({
  options,
  command,
  context,
}: Invocation<{ readonly roles?: string }>): Promise<void> {
  const { configuration: given } = readConfiguration(command, context);
  let configuration = given;
  const selected =
    options.roles === undefined ? configuration.roles : selectRoles(options.roles, configuration.roles);
  const roles = selected.map(({ role }) => role);
  if (given.contractsFile !== null) await readContractsFile(given.contractsFile, given.chainRegistry);
  const slots = slotsOf(configuration, selected, availableParallelism());
  await requireFreePorts(configuration, roles);
  await requireKeys(configuration, roles);
  const surveyed = roles.includes('ingest') ? surveyUpstreams(configuration, context.clock) : Promise.resolve([]);
  const logger = createLogger({ level: configuration.logLevel, role: 'start' });
  context.stderr.write(await describeOpening(configuration.database));
  const open = async (): Promise<Storage> => {
    const opened = await openStorage({
      configuration: given.database,
      applicationName: APPLICATION_NAME,
      logger,
      mayCreate: true,
    });
    try {
      await prepare(opened, { configuration, slots }, context, logger);
      if (slots.some(({ role }) => role === 'api')) configuration = await withAnalystUrl(given, opened);
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  };
  const storage = await onceDatabaseAnswers(open, {
    clock: context.clock,
    logger,
    signal: context.stopSignal,
    isFinal: (error) => error instanceof DatabaseUnreachableError,
  });
  try {
    const adminKeyFile = await makeAdminKey(storage, { configuration, slots }, logger);
    const needsKey = await keyStore(storage, configuration).inUse();
    await runRoles({
      slots,
      configuration,
      configurationFile: configurationFile(command, context),
      storage,
      logger,
      context,
      onReload: () => reportChangedChains(given, () => readConfiguration(command, context).configuration, logger),
      // For people; standard output is the log, in JSON lines.
      onReady: (ready, metrics) =>
        void surveyed.then((findings) => {
          if (context.stopSignal.aborted) return;
          const facts = { configuration, storage, slots, ready, metrics, findings, adminKeyFile, needsKey };
          context.stderr.write(renderStartSummary(facts));
        }),
    });
  } finally {
    if (storage.isEmbedded && context.stopSignal.aborted)
      context.stderr.write('Stopping the embedded Postgres …\n');
    await storage.close();
  }
}

interface Plan {
  readonly configuration: Configuration;
  readonly slots: readonly RoleSlot[];
}

async function prepare(
  storage: Storage,
  { configuration, slots }: Plan,
  context: CommandContext,
  logger: Logger,
): Promise<void> {
  if (!storage.isEmbedded) await migrate(storage.database, { logger });
  // Invariant: SYNC-TABLES-MATCH
  await requireDatasetTables(storage.database, configuration.datasets);
  if (slots.some(({ role }) => role === 'api'))
    await assertSafeBinding({ host: configuration.api.host, keys: keyStore(storage, configuration) });
  context.stderr.write(`Starting ${renderRoles(slots)} …\n`);
  const { database } = storage;
  // Not at the start: an index takes hours on a large table.
  const missing = await missingBulkIndexes(database, configuration.datasets);
  if (missing.length > 0)
    logger.warn({ indexes: missing }, 'Indexes missing after a bulk backfill. Run "chainstead indexes"');
  // On a cluster, tables of a migration stay on the coordinator until distributed.
  const waiting = await waitingTables(database);
  if (waiting.length > 0)
    logger.warn(
      { tables: waiting },
      'Tables not distributed yet. Stop Chainstead and run "chainstead distribute"',
    );
  await warnOfFewConnections(storage, { configuration, slots }, logger);
}

/** On a loopback host only. @returns its file; null if a key exists */
async function makeAdminKey(
  { database }: Storage,
  { configuration, slots }: Plan,
  logger: Logger,
): Promise<string | null> {
  const { host, keys } = configuration.api;
  if (!slots.some(({ role }) => role === 'api') || !isLoopbackName(host)) return null;
  const { dataDirectory } = configuration.database;
  return writeFirstAdminKey({ database, configured: keys, dataDirectory, logger });
}

function keyStore({ database }: Storage, { api }: Configuration): KeyStore {
  return createKeyStore({ database, configured: api.keys });
}

/** A new database has no key. @throws UnsafeBindingError before it starts */
async function requireKeys({ api, database }: Configuration, roles: readonly RoleName[]): Promise<void> {
  if (!roles.includes('api') || isLoopbackName(api.host) || api.keys.length > 0) return;
  if (!(await hasDatabase(database))) throw new UnsafeBindingError(api.host);
}

async function describeOpening(database: Configuration['database']): Promise<string> {
  if (database.url !== null) return `Connecting to the database at ${redactConnectionString(database.url)} …\n`;
  return openingText(database, (await hasDatabase(database)) ? 'Starting' : 'Creating');
}

async function warnOfFewConnections(
  { database }: Storage,
  { configuration, slots }: Plan,
  logger: Logger,
): Promise<void> {
  if (configuration.database.sessionUrl !== null) return;
  const room = await readConnectionRoom(database, APPLICATION_NAME);
  const shortage = connectionShortage(connectionsNeeded(configuration, slots), room);
  if (shortage !== null) logger.warn(shortage.facts, shortage.message);
}
