import { errorText, type Logger, type Registry, sleepUnlessAborted, systemClock } from '@chainstead/core';
import { isSpread } from '../citus/table-placements.ts';
import type { CountBytes } from '../connections/connection-metrics.ts';
import { parseConnectionString } from '../connections/connection-string.ts';
import type { Database, ReadDatabase } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import type { ConnectionRoom } from '../server/connection-room.ts';
import { sql } from '../sql.ts';
import { createReadSession, positionOfPrimary, type ReadSession, type SharedFloor } from './read-session.ts';
import { createStandby, type Standby } from './standby.ts';
import { createStandbyReads } from './standby-reads.ts';
import { createReadMetrics, createWalHistory, parseWalPosition, type WalHistory } from './wal-position.ts';

export interface ReadsOptions {
  /** `DATABASE_READ_URL`: each host is a standby. */
  readonly url: string;
  readonly primary: Database;
  readonly applicationName: string;
  /** Per standby. */
  readonly poolSize: number;
  readonly prepared?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** A standby with more lag is not read from. */
  readonly lagMaxMs: number;
  /** Called whenever a standby is found. */
  readonly onRoom?: (host: string, room: ConnectionRoom) => void;
  readonly logger: Logger;
  readonly metrics: Registry;
}

export interface Reads {
  /** For one request. @param primary its connection @param counting on standbys */
  session(primary: ReadDatabase, signal?: AbortSignal, counting?: () => CountBytes): ReadSession;
  close(): Promise<void>;
}

const PRIMARY_EVERY_MS = 200;

/** @throws {DatabaseError} DATABASE_URL_INVALID, STANDBYS_OF_CLUSTER; errors of the primary */
export async function openReads(options: ReadsOptions): Promise<Reads> {
  const { primary, logger, lagMaxMs } = options;
  const { prepared = false, settings = {}, onRoom = () => {} } = options;
  const target = parseConnectionString(options.url);
  if (await isSpread(primary)) throw standbysOfCluster();
  const clusterId = await clusterOf(primary);
  // The schema may have been migrated just now.
  const floor: SharedFloor = { position: await positionOfPrimary(primary) };
  const standbys = target.hosts.map((host) => {
    const own = { ...target, hosts: [host], readWrite: false };
    return createStandby({ ...options, prepared, settings, onRoom, target: own, clusterId });
  });
  const history = createWalHistory();
  const lagOf = (standby: Standby) => history.lagOf(standby.lastReplayed ?? 0n, performance.now());
  const metrics = createReadMetrics(options.metrics);
  for (const standby of standbys) {
    const labels = { host: standby.host };
    metrics.standbyLagSeconds.addSource(labels, () => lagOf(standby).ms / 1_000);
    metrics.standbyLagBytes.addSource(labels, () => lagOf(standby).bytes);
    metrics.standbyUsed.addSource(labels, () =>
      standby.replayed !== null && lagOf(standby).ms <= lagMaxMs ? 1 : 0,
    );
  }
  const lagMsOf = (standby: Standby) => lagOf(standby).ms;
  const onStandbys = createStandbyReads({ standbys, lagOf: lagMsOf, lagMaxMs, logger, metrics });
  const stopping = new AbortController();
  const watching = [
    watchPrimary(primary, history, logger, stopping.signal),
    ...standbys.map((standby) => standby.watch(stopping.signal)),
  ];
  await Promise.all(standbys.map((standby) => standby.look()));
  return {
    session: (own, signal, counting) =>
      createReadSession({
        onStandbys,
        primary: own,
        floor,
        end: signal === undefined ? undefined : { signal, how: 'cancel', counting },
        onPrimary: () => metrics.reads.inc({ host: 'primary', outcome: 'answered' }),
      }),
    async close() {
      stopping.abort();
      await Promise.all([...watching, ...standbys.map((standby) => standby.close())]);
    },
  };
}

/** A coordinator's WAL does not cover commits on workers. */
function standbysOfCluster(): DatabaseError {
  return new DatabaseError({
    code: 'STANDBYS_OF_CLUSTER',
    message:
      "DATABASE_READ_URL can't be used with distributed tables: the standbys of a cluster don't replay one WAL",
    remedy: 'Unset DATABASE_READ_URL. On a cluster, lists are read on the nodes that store them',
    retryable: false,
  });
}

/** Standbys only get flushed WAL. */
async function watchPrimary(primary: Database, history: WalHistory, logger: Logger, signal: AbortSignal) {
  while (!signal.aborted) {
    try {
      const [row] = await primary.select<{ position: string }>(
        sql`SELECT pg_current_wal_flush_lsn()::text AS position`,
      );
      if (row !== undefined) history.add(parseWalPosition(row.position), performance.now());
    } catch (error) {
      logger.debug({ error: errorText(error) }, 'The end of the log could not be read');
    }
    await sleepUnlessAborted(systemClock, PRIMARY_EVERY_MS, signal);
  }
}

/** Shared only by a server and its copies. */
async function clusterOf(primary: Database): Promise<string> {
  const [row] = await primary.select<{ id: string }>(
    sql`SELECT system_identifier::text AS id FROM pg_control_system()`,
  );
  if (row === undefined) throw new TypeError('SELECT without FROM returned no row');
  return row.id;
}
