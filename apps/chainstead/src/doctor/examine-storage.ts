import { availableParallelism } from 'node:os';
import { type Clock, type Finding, findingsOf, type Logger, redactUrl } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { examineServer, readConnectionRoom, redactConnectionString } from '@chainstead/db/server';
import { examineRedis } from '@chainstead/jobs/worker';
import type { Configuration } from '../configuration/index.ts';
import { hasDatabase, openStorage, type Storage } from '../session/storage.ts';
import { connectionShortage, connectionsNeeded, slotsOf } from '../shares/role-slot.ts';
import type { Report } from './report.ts';

export interface StorageExamination {
  readonly configuration: Configuration;
  readonly logger: Logger;
  readonly clock: Clock;
}

const APPLICATION_NAME = 'chainstead doctor';

/** @param whileOpen gets null if the database can't be opened */
export async function examineStorage(
  examination: StorageExamination,
  whileOpen: (storage: Storage | null) => Promise<readonly Report[]>,
): Promise<readonly Report[]> {
  const { redisUrl } = examination.configuration;
  const startedAt = performance.now();
  const reportOf = (name: string, findings: readonly Finding[]): Report => {
    return { part: 'storage', name, findings, tookMs: performance.now() - startedAt };
  };
  const redis = redisUrl === null ? [] : [reportOf(`Redis ${redactUrl(redisUrl)}`, await examineRedis(redisUrl))];
  const opened = await tryToOpen(examination);
  if ('finding' in opened) return [reportOf(opened.name, [opened.finding]), ...redis, ...(await whileOpen(null))];
  const { storage } = opened;
  try {
    const name = `Postgres ${storage.isEmbedded ? '(embedded)' : redactConnectionString(storage.url)}`;
    const findings = await examineDatabase(examination, storage);
    return [reportOf(name, findings), ...redis, ...(await whileOpen(storage))];
  } finally {
    await storage.close();
  }
}

type Opened = { readonly storage: Storage } | { readonly name: string; readonly finding: Finding };

/** Without storage, the finding has the reason. */
export async function tryToOpen({ configuration, logger }: StorageExamination): Promise<Opened> {
  const { url, dataDirectory } = configuration.database;
  const { ok, refused } = findingsOf('connection');
  if (!(await hasDatabase(configuration.database)))
    return {
      name: 'Postgres (embedded)',
      finding: ok(`no database in ${dataDirectory} yet; the first start creates it`),
    };
  try {
    const options = { configuration: configuration.database, applicationName: APPLICATION_NAME, logger };
    return { storage: await openStorage({ ...options, leavesSchema: true, isQuiet: true }) };
  } catch (error) {
    const name = url === null ? 'Postgres (embedded)' : `Postgres ${redactConnectionString(url)}`;
    return { name, finding: refused(error, "Chainstead can't run without Postgres.") };
  }
}

async function examineDatabase(
  { configuration, clock }: StorageExamination,
  { database, isEmbedded }: Storage,
): Promise<readonly Finding[]> {
  const folder = isEmbedded ? configuration.database.dataDirectory : null;
  const server = await examineServer({ database, clock, folder });
  if (configuration.database.sessionUrl !== null) return server;
  return [...server, await roomFinding(configuration, database)];
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
