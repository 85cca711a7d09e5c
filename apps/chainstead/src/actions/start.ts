import { availableParallelism } from 'node:os';
import { createLogger, type Logger, redactUrl } from '@chainstead/core';
import { hasCluster, migrate, readConnectionRoom, waitingTables } from '@chainstead/db';
import { assertSafeBinding, createKeyStore, isLoopbackName, type KeyStore, UnsafeBindingError } from '@chainstead/http';
import { missingBulkIndexes } from '@chainstead/sync';
import type { Command } from 'commander';
import { writeFirstAdminKey } from '../admin-key-file.ts';
import { requireFreePorts } from '../check-ports.ts';
import type { CommandContext } from '../command-context.ts';
import { type Configuration, ROLE_NAMES, type RoleName } from '../configuration/index.ts';
import { connectionShortage, connectionsNeeded, settingsToLower } from '../connection-demand.ts';
import { onceDatabaseAnswers } from '../once-database-answers.ts';
import { configurationFile, readConfiguration } from '../read-configuration.ts';
import { type RoleSlot, renderRoles, slotsOf } from '../role-slot.ts';
import { runRoles } from '../run-roles.ts';
import { renderStartSummary } from '../start-summary.ts';
import { DatabaseUnreachableError, openStorage, type Storage } from '../storage.ts';
import { surveyUpstreams } from '../survey-upstreams.ts';
import { UsageError } from '../usage-error.ts';

/** Of the sessions of this process; those of its roles come later. */
const APPLICATION_NAME = 'chainstead start';

/** Runs the program until the context's signal aborts. */
export async function start(
  options: { readonly roles?: string },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const { configuration } = readConfiguration(command, context);
  const roles = options.roles === undefined ? configuration.roles : parseRoles(options.roles);
  const slots = slotsOf(configuration, roles, availableParallelism());
  await requireFreePorts(configuration, roles);
  await requireKeys(configuration, roles);
  const surveyed = roles.includes('ingest') ? surveyUpstreams(configuration, context.clock) : Promise.resolve([]);
  const logger = createLogger({ level: configuration.logLevel, role: 'start' });
  context.stderr.write(`${await describeOpening(configuration.database)}\n`);
  const open = async (): Promise<Storage> => {
    const opened = await openStorage({
      configuration: configuration.database,
      applicationName: APPLICATION_NAME,
      logger,
    });
    try {
      await prepare(opened, { configuration, slots }, context, logger);
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
    // Whoever gave a wrong URL shall not wait for the answer.
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
      // For people; standard output is the log's, one JSON line each.
      onReady: (ready, metrics) =>
        void surveyed.then((findings) => {
          if (context.stopSignal.aborted) return;
          const facts = { configuration, storage, slots, ready, metrics, findings, adminKeyFile, needsKey };
          context.stderr.write(renderStartSummary(facts));
        }),
    });
  } finally {
    if (storage.isEmbedded && context.stopSignal.aborted) context.stderr.write('Stopping the embedded Postgres …\n');
    await storage.close();
  }
}

/** What is going to run. */
interface Plan {
  readonly configuration: Configuration;
  readonly slots: readonly RoleSlot[];
}

/** What has to be there before the roles start. */
async function prepare(
  storage: Storage,
  { configuration, slots }: Plan,
  context: CommandContext,
  logger: Logger,
): Promise<void> {
  if (!storage.isEmbedded) await migrate(storage.database, { logger });
  if (slots.some(({ role }) => role === 'api'))
    await assertSafeBinding({ host: configuration.api.host, keys: keyStore(storage, configuration) });
  context.stderr.write(`Starting ${renderRoles(slots)} …\n`);
  await warnOfMissingIndexes(storage, configuration, logger);
  await warnOfWaitingTables(storage, logger);
  await warnOfFewConnections(storage, { configuration, slots }, logger);
}

/** On this machine alone: where others reach the API, its keys are made by a command. @returns its file; null where there is a key */
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

/**
 * Refuses what is bound to be refused once the database runs: others shall reach the API, no key is configured, and none
 * was made, as there is no database yet. @throws UnsafeBindingError
 */
async function requireKeys({ api, database }: Configuration, roles: readonly RoleName[]): Promise<void> {
  if (!roles.includes('api') || isLoopbackName(api.host) || api.keys.length > 0) return;
  if (database.url === null && !(await hasCluster(database.dataDirectory))) throw new UnsafeBindingError(api.host);
}

/** For a person who waits: the first start of an embedded database takes a while. */
async function describeOpening({ url, dataDirectory }: Configuration['database']): Promise<string> {
  if (url !== null) return `Connecting to the database at ${redactUrl(url)} …`;
  const verb = (await hasCluster(dataDirectory)) ? 'Starting' : 'Creating';
  return `${verb} the embedded Postgres in ${dataDirectory} …`;
}

/** An index takes hours on a large table: a start says that it is missing, and never builds it. */
async function warnOfMissingIndexes({ database }: Storage, { datasets }: Configuration, logger: Logger): Promise<void> {
  const missing = await missingBulkIndexes(database, datasets);
  if (missing.length > 0)
    logger.warn({ indexes: missing }, 'Indexes are missing since a bulk backfill: run "chainstead indexes"');
}

/** What a migration made on a cluster lies on the coordinator, and works there, until somebody has time to distribute it. */
async function warnOfWaitingTables({ database }: Storage, logger: Logger): Promise<void> {
  const waiting = await waitingTables(database);
  if (waiting.length > 0)
    logger.warn(
      { tables: waiting },
      'Tables wait to be distributed: run "chainstead distribute" while the program is stopped',
    );
}

/** Once they are used up, requests and webhooks wait and fail. Behind a pooler of transactions the server's number says nothing. */
async function warnOfFewConnections(
  { database }: Storage,
  { configuration, slots }: Plan,
  logger: Logger,
): Promise<void> {
  if (configuration.database.sessionUrl !== null) return;
  const room = await readConnectionRoom(database, APPLICATION_NAME);
  const shortage = connectionShortage(connectionsNeeded(configuration, slots), room, settingsToLower(slots));
  if (shortage !== null) logger.warn(shortage.facts, shortage.message);
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
