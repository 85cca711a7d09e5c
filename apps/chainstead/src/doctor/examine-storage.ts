import { availableParallelism } from 'node:os';
import { type CheckReport, type Clock, type Finding, findingsOf, type Logger, redactUrl } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import {
  examineServer,
  obstacleOf,
  planMigrations,
  readConnectionRoom,
  redactConnectionString,
} from '@chainstead/db/server';
import { examineRedis } from '@chainstead/jobs/worker';
import type { Configuration } from '../configuration/index.ts';
import { hasDatabase, openStorage, type Storage } from '../session/storage.ts';
import { connectionShortage, connectionsNeeded, slotsOf } from '../shares/role-slot.ts';

export interface StorageExamination {
  readonly configuration: Configuration;
  readonly logger: Logger;
  readonly clock: Clock;
}

const APPLICATION_NAME = 'chainstead doctor';

/** @param whileOpen gets null if the database can't be opened */
export async function examineStorage<T>(
  examination: StorageExamination,
  whileOpen: (database: ExaminedDatabase | null) => Promise<T>,
): Promise<{ readonly reports: readonly CheckReport[]; readonly value: T }> {
  const { configuration } = examination;
  const startedAt = performance.now();
  const { redisUrl } = configuration;
  const reportOf = (name: string, findings: readonly Finding[]): CheckReport => {
    return { name, findings, calls: 0, tookMs: performance.now() - startedAt };
  };
  const redis = redisUrl === null ? [] : [reportOf(`Redis ${redactUrl(redisUrl)}`, await examineRedis(redisUrl))];
  const opened = await tryToOpen(examination);
  if ('finding' in opened)
    return { reports: [reportOf(opened.name, [opened.finding]), ...redis], value: await whileOpen(null) };
  const { storage } = opened;
  try {
    const { findings, isCurrent } = await examineDatabase(examination, storage);
    const name = `Postgres ${storage.isEmbedded ? '(embedded)' : redactConnectionString(storage.url)}`;
    const reports = [reportOf(name, findings), ...redis];
    return { reports, value: await whileOpen({ database: storage.database, isCurrent }) };
  } finally {
    await storage.close();
  }
}

export interface ExaminedDatabase {
  readonly database: Database;
  readonly isCurrent: boolean;
}

type Opened = { readonly storage: Storage } | { readonly name: string; readonly finding: Finding };

async function tryToOpen({ configuration, logger }: StorageExamination): Promise<Opened> {
  const { url, dataDirectory } = configuration.database;
  const { ok, bad } = findingsOf('connection');
  if (!(await hasDatabase(configuration.database)))
    return {
      name: 'Postgres (embedded)',
      finding: ok(`no database in ${dataDirectory} yet; the first start creates it`),
    };
  try {
    const options = { configuration: configuration.database, applicationName: APPLICATION_NAME, logger };
    return { storage: await openStorage({ ...options, leavesSchema: true, isQuiet: true }) };
  } catch (error) {
    const { message, remedy } = obstacleOf(error);
    const name = url === null ? 'Postgres (embedded)' : `Postgres ${redactConnectionString(url)}`;
    return { name, finding: bad(message, "Chainstead can't run without Postgres.", remedy) };
  }
}

async function examineDatabase(
  { configuration, clock }: StorageExamination,
  storage: Storage,
): Promise<{ readonly findings: readonly Finding[]; readonly isCurrent: boolean }> {
  const { database, isEmbedded } = storage;
  const folder = isEmbedded ? configuration.database.dataDirectory : null;
  const server = await examineServer({ database, clock, folder });
  const schema = await examineSchema(database);
  const room = configuration.database.sessionUrl === null ? [await roomFinding(configuration, database)] : [];
  return { findings: [...server, schema.finding, ...room], isCurrent: schema.isCurrent };
}

async function examineSchema(
  database: Database,
): Promise<{ readonly finding: Finding; readonly isCurrent: boolean }> {
  const { ok, warning, bad } = findingsOf('schema');
  try {
    const { pending, applied } = await planMigrations(database);
    if (pending.length === 0) return { finding: ok(`up to date (${applied} migrations)`), isCurrent: true };
    if (applied === 0) return { finding: ok('empty; the first start creates it'), isCurrent: false };
    const finding = warning(
      `${pending.length} migrations of this version are not applied`,
      'This version has not been started on this database yet.',
      'Run "chainstead upgrade-check" to see the changes.',
    );
    return { finding, isCurrent: false };
  } catch (error) {
    const { message, remedy } = obstacleOf(error);
    return { finding: bad(message, "This version can't start on this database.", remedy), isCurrent: false };
  }
}

async function roomFinding(configuration: Configuration, database: Database): Promise<Finding> {
  const { ok, warning } = findingsOf('connections');
  const room = await readConnectionRoom(database, APPLICATION_NAME);
  const slots = slotsOf(configuration, configuration.roles, availableParallelism());
  const needed = connectionsNeeded(configuration, slots);
  const { max, reserved, usedByOthers } = room;
  // A running instance may be this program: its connections are among those in use.
  const shortage = connectionShortage(needed, { max, reserved, usedByOthers: 0 });
  if (shortage === null) return ok(`${usedByOthers} of ${max} in use; the roles here open at most ${needed}`);
  return warning(
    `the roles here may open ${needed}, but the server allows ${max - reserved}`,
    'If they run out, requests and webhooks wait and fail.',
    'Raise max_connections, or run fewer processes (ROLES).',
  );
}
