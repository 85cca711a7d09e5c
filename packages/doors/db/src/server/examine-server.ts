import { statfs } from 'node:fs/promises';
import { type Clock, type Finding, findingsOf } from '@chainstead/core';
import type { Database } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { sql } from '../sql.ts';

interface ExaminedServer {
  readonly database: Pick<Database, 'query'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Null: its disk is not accessible. */
  readonly folder: string | null;
}

type Setting = 'fsync' | 'fullPageWrites' | 'synchronousCommit' | 'autovacuum' | 'trackCounts' | 'walLevel';
interface ServerFacts extends Readonly<Record<Setting, string>> {
  readonly isReadOnly: boolean;
  readonly isStandby: boolean;
  readonly sharedBuffers: number;
  readonly maxWalSize: number;
  readonly publications: readonly string[];
  readonly size: number;
  readonly now: Date;
}
const FACTS = sql`SELECT current_setting('transaction_read_only')::bool AS "isReadOnly", pg_is_in_recovery() AS "isStandby",
  current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('autovacuum') AS autovacuum, current_setting('track_counts') AS track_counts,
  pg_size_bytes(current_setting('shared_buffers'))::float8 AS "sharedBuffers", pg_size_bytes(current_setting('max_wal_size'))::float8 AS "maxWalSize",
  current_setting('wal_level') AS wal_level, ARRAY(SELECT pubname::text FROM pg_publication ORDER BY pubname) AS publications,
  pg_database_size(current_database())::float8 AS size, clock_timestamp() AS now`;

const MEGABYTE = 1_048_576;
const GIGABYTE = 1_024 * MEGABYTE;
const ROUND_TRIPS = 10;
const ROUND_TRIP_SLOW_MS = 10;
const CLOCK_OFF_MS = 5_000;
const BUFFERS_SMALL = 128 * MEGABYTE;
/** Smaller ones need no `max_wal_size`. */
const DATABASE_LARGE = 10 * GIGABYTE;
const WAL_SMALL = GIGABYTE;
const DISK = { low: 0.15, bad: 0.05 };

/** Read-only. Replication counts if there is a publication. */
export async function examineServer({ database, clock, folder }: ExaminedServer): Promise<Finding[]> {
  const [facts] = await database.query<ServerFacts>(FACTS);
  if (facts === undefined) throw new TypeError('SELECT without FROM returned no row');
  const clockOffMs = Math.abs(clock.now() - facts.now.getTime());
  return [
    await examineVersion(database),
    writesFinding(facts),
    durabilityFinding(facts),
    vacuumFinding(facts),
    memoryFinding(facts),
    await nearnessFinding(database),
    clockFinding(clockOffMs),
    await diskFinding(facts.size, folder),
    ...(facts.publications.length === 0 ? [] : [replicationFinding(facts)]),
  ];
}

/** As {@link checkServer}. */
export async function examineVersion(database: Pick<Database, 'query'>): Promise<Finding> {
  const version = findingsOf('version');
  try {
    return version.ok(`${await checkServer(database)}; ${POSTGRES_MAJOR_MIN} or newer is supported`);
  } catch (error) {
    return version.refused(error, "Chainstead can't run on this server.");
  }
}

function writesFinding({ isReadOnly, isStandby }: ServerFacts): Finding {
  const { ok, bad } = findingsOf('writes');
  if (!isStandby && !isReadOnly) return ok('taken');
  return bad(
    isStandby ? 'the server is a standby' : 'transactions are read-only',
    'Nothing can be written.',
    isStandby
      ? 'Point DATABASE_URL at the primary. Set DATABASE_READ_URL for standbys.'
      : 'Set default_transaction_read_only = off for this role and database.',
  );
}

function durabilityFinding(facts: ServerFacts): Finding {
  const { ok, warning, bad } = findingsOf('durability');
  const settings = { fsync: facts.fsync, full_page_writes: facts.fullPageWrites };
  const off = Object.entries(settings).flatMap(([name, value]) => (value === 'off' ? [name] : []));
  if (off.length > 0)
    return bad(
      `${off.join(' and ')} off`,
      'A power failure can destroy the database and all its data.',
      `Turn ${off.join(' and ')} on.`,
    );
  if (facts.synchronousCommit === 'off')
    return warning(
      'synchronous_commit off',
      'After a crash, the last commits may be lost. Blocks are read again, but webhooks may be sent twice and API data may be older.',
      'Turn synchronous_commit on.',
    );
  return ok('fsync, full_page_writes and synchronous_commit are on');
}

function vacuumFinding({ autovacuum, trackCounts: counts }: ServerFacts): Finding {
  const { ok, bad } = findingsOf('autovacuum');
  if (autovacuum === 'on' && counts === 'on') return ok('on');
  return bad(
    autovacuum === 'on' ? 'track_counts off' : 'off',
    'Tables and indexes bloat, query plans get worse, and finally the server accepts no writes.',
    'Turn autovacuum and track_counts on.',
  );
}

function memoryFinding({ sharedBuffers: buffers, maxWalSize: wal, size }: ServerFacts): Finding {
  const { ok, warning } = findingsOf('memory and log');
  const text = `shared_buffers ${megabytes(buffers)}, max_wal_size ${megabytes(wal)}`;
  if (buffers >= BUFFERS_SMALL && (size < DATABASE_LARGE || wal >= WAL_SMALL)) return ok(text);
  return warning(
    text,
    'Writes reach the disk too often, especially with a large database.',
    'Set shared_buffers to a quarter of the memory, and max_wal_size to a few gigabytes (docs/operate/postgres.md, “WAL settings”).',
  );
}

async function nearnessFinding(database: Pick<Database, 'query'>): Promise<Finding> {
  const { ok, warning } = findingsOf('round trip');
  const times: number[] = [];
  for (let trip = 0; trip < ROUND_TRIPS; trip++) {
    const startedAt = performance.now();
    await database.query(sql`SELECT 1`);
    times.push(performance.now() - startedAt);
  }
  const median = times.toSorted((a, b) => a - b)[ROUND_TRIPS / 2] ?? 0;
  const text = `${median.toFixed(1)} ms`;
  if (median <= ROUND_TRIP_SLOW_MS) return ok(text);
  return warning(
    text,
    'Each request and each block takes several round trips.',
    'Run Chainstead closer to its database.',
  );
}

function clockFinding(offMs: number): Finding {
  const { ok, warning } = findingsOf('clock');
  const text = `${(offMs / 1_000).toFixed(1)} s apart from the clock of this machine`;
  if (offMs <= CLOCK_OFF_MS) return ok(text);
  return warning(
    text,
    'Leases use the clock of the database, so nothing breaks. But times in logs and responses do not match.',
    'Synchronize the clocks of both machines (NTP).',
  );
}

async function diskFinding(size: number, folder: string | null): Promise<Finding> {
  const { ok, warning, bad } = findingsOf('disk');
  const taken = `the database takes ${megabytes(size)}`;
  if (folder === null) return ok(`${taken}; free disk space is not visible from here`);
  const { bavail, blocks, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const share = bavail / Math.max(1, blocks);
  const text = `${taken}; ${megabytes(free)} (${Math.round(share * 100)} %) of the disk are free`;
  if (share >= DISK.low || free >= 10 * size + GIGABYTE) return ok(text);
  const meaning =
    'When the disk is full, nothing can be written. Work resumes automatically once there is space.';
  const remedy = 'Add disk space, or retain fewer blocks (RETENTION_BLOCKS of a chain).';
  return share < DISK.bad && free < size + GIGABYTE ? bad(text, meaning, remedy) : warning(text, meaning, remedy);
}

function replicationFinding({ publications, walLevel: level }: ServerFacts): Finding {
  const { ok, warning } = findingsOf('replication');
  const text = `wal_level ${level}, publications: ${publications.join(', ')}`;
  if (level === 'logical') return ok(text);
  return warning(
    text,
    'Subscribers receive nothing: logical replication needs wal_level = logical.',
    "Run ALTER SYSTEM SET wal_level = 'logical' and restart Postgres, or drop the publications (docs/operate/replicate.md).",
  );
}

function megabytes(bytes: number): string {
  if (bytes >= GIGABYTE) return `${(bytes / GIGABYTE).toFixed(1)} GB`;
  return `${Math.ceil(bytes / MEGABYTE)} MB`;
}

export const POSTGRES_MAJOR_MIN = 15;

/** @returns version and encoding @throws {DatabaseError} DATABASE_VERSION_UNSUPPORTED, DATABASE_ENCODING_UNSUPPORTED */
export async function checkServer(database: Pick<Database, 'query'>): Promise<string> {
  const [server] = await database.query<{ number: number; version: string; encoding: string }>(
    sql`SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
            current_setting('server_encoding') AS encoding`,
  );
  if (server === undefined) throw new TypeError('SELECT without FROM returned no row');
  if (server.number < POSTGRES_MAJOR_MIN * 10_000)
    throw new DatabaseError({
      code: 'DATABASE_VERSION_UNSUPPORTED',
      message: `The database server runs Postgres ${server.version}, but Chainstead needs ${POSTGRES_MAJOR_MIN} or newer`,
      facts: { version: server.version, version_min: POSTGRES_MAJOR_MIN },
      remedy: 'Upgrade the server, or unset DATABASE_URL to use the embedded Postgres',
      retryable: false,
    });
  if (server.encoding !== 'UTF8')
    throw new DatabaseError({
      code: 'DATABASE_ENCODING_UNSUPPORTED',
      message: `The database has the encoding ${server.encoding}, but Chainstead needs UTF8`,
      facts: { encoding: server.encoding },
      remedy: "Create a database with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
      retryable: false,
    });
  return `Postgres ${server.version}, ${server.encoding}`;
}
