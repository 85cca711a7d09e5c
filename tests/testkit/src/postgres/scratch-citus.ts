import { randomBytes } from 'node:crypto';
import { silentLogger } from '@chainstead/core';
import { type Database, rawSql, type Sql, sql } from '@chainstead/db';
import { distributeTables, migrate, openDatabase, planDistribution } from '@chainstead/db/server';
import { findPostgresPrograms, type PostgresPrograms, type ScratchCluster } from './scratch-cluster.ts';
import type { ScratchDatabase } from './scratch-database.ts';

/** A cluster of Citus on 127.0.0.1: a coordinator that holds no shards of distributed tables, and workers. Each is a server that can crash and restart. */
export interface ScratchCitus {
  readonly coordinator: ScratchCluster;
  readonly workers: readonly ScratchCluster[];
  /** A separate database on each server, the coordinator's migrated; its URL and connections are the coordinator's. It goes with the cluster. */
  createDatabase(options?: CitusDatabaseOptions): Promise<ScratchDatabase>;
  /** Ends the servers, and removes what they wrote. */
  remove(): Promise<void>;
}

export interface CitusDatabaseOptions {
  /** True distributes its tables as `chainstead distribute` does. @default false */
  readonly distributed?: boolean;
  /** False leaves the coordinator alone, without workers. @default true */
  readonly joined?: boolean;
}

export interface CitusPrograms {
  createCluster(options?: CitusClusterOptions): Promise<ScratchCitus>;
  /** One server of the same Postgres, to compare with. */
  createServer(options?: CitusClusterOptions): Promise<ScratchCluster>;
}

export interface CitusClusterOptions {
  /** Lines of each server's postgresql.conf, over those that make tests quick. */
  readonly settings?: string;
}

const WORKERS = 2;
/** Few shards, so that tables are distributed quickly; what a killed server left half committed is settled within a second. */
const SETTINGS = `
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=disable'
citus.local_hostname = '127.0.0.1'
citus.enable_statistics_collection = off
citus.shard_count = 4
citus.recover_2pc_interval = 1s
max_connections = 200
max_prepared_transactions = 200
max_locks_per_transaction = 256
max_worker_processes = 32
wal_level = logical
jit = off
`;

/**
 * The Citus of this machine's Postgres. Where there is none, says on stderr what does not run for that, so that a skipped test is never a
 * silent one.
 * @param what `distributing a filled database`
 */
export async function findCitus(what: string): Promise<CitusPrograms | undefined> {
  const programs = await findPostgresPrograms('citus');
  if (programs !== undefined)
    return {
      createCluster: (options) => createCitus(programs, options),
      createServer: ({ settings = '' } = {}) =>
        programs.createCluster({ settings: SETTINGS + settings, authentication: 'trust' }),
    };
  process.stderr.write(`NOT RUN: no Citus in this machine's Postgres (${what})\n`);
  return undefined;
}

async function createCitus(
  programs: PostgresPrograms,
  { settings = '' }: CitusClusterOptions = {},
): Promise<ScratchCitus> {
  // They connect to each other as the asking role, which has no password to give.
  const create = () => programs.createCluster({ settings: SETTINGS + settings, authentication: 'trust' });
  const [coordinator, ...workers] = await Promise.all([create(), ...Array.from({ length: WORKERS }, create)]);
  // Roles are the servers', not a database's: what a migration gives one of the coordinator is given on all nodes.
  for (const server of [coordinator, ...workers])
    await ask(server.url(), sql`CREATE ROLE chainstead_reader NOLOGIN`);
  return {
    coordinator,
    workers,
    createDatabase: (options) => createDatabase(coordinator, workers, options),
    async remove() {
      await Promise.all([coordinator, ...workers].map((server) => server.remove()));
    },
  };
}

async function createDatabase(
  coordinator: ScratchCluster,
  workers: readonly ScratchCluster[],
  { distributed = false, joined = true }: CitusDatabaseOptions = {},
): Promise<ScratchDatabase> {
  const name = `scratch_${randomBytes(6).toString('hex')}`;
  for (const server of [coordinator, ...workers]) {
    await ask(server.url(), sql`CREATE DATABASE ${rawSql(name)} TEMPLATE template0 ENCODING 'UTF8'`);
    await ask(server.url(name), sql`CREATE EXTENSION citus`);
  }
  const url = coordinator.url(name);
  const database = open(url, 10);
  if (joined) {
    await database.query(sql`SELECT citus_set_coordinator_host(${placeOf(coordinator)})`);
    for (const worker of workers) await database.query(sql`SELECT citus_add_node(${placeOf(worker)})`);
  }
  await migrate(database);
  if (distributed) await distributeTables(database, await planDistribution(database));
  return { url, database, drop: () => database.close() };
}

/** Arguments of Citus' functions: the name and port of a server. */
function placeOf({ host }: ScratchCluster): Sql {
  const [name = '', port] = host.split(':');
  return sql`${name}, ${Number(port)}`;
}

async function ask(url: string, statement: Sql): Promise<void> {
  const database = open(url, 1);
  try {
    await database.query(statement);
  } finally {
    await database.close();
  }
}

function open(url: string, poolSize: number): Database {
  return openDatabase({ url, applicationName: 'chainstead-test', poolSize, logger: silentLogger() });
}
