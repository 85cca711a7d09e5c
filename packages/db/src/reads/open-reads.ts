import { errorText, type Logger, type Registry, sleepUnlessAborted, systemClock } from '@chainstead/core';
import { isSpread } from '../citus/is-spread.ts';
import type { ConnectionRoom } from '../connection-room.ts';
import { parseConnectionString } from '../connection-string.ts';
import type { Database, ReadDatabase } from '../database.ts';
import { DatabaseError } from '../database-error.ts';
import { createReadMetrics } from './read-metrics.ts';
import { createReadSession, positionOfPrimary, type ReadSession, type SharedFloor } from './read-session.ts';
import { Standby } from './standby.ts';
import { createStandbyReads } from './standby-reads.ts';
import { createWalHistory, type WalHistory } from './wal-history.ts';
import { parseWalPosition } from './wal-position.ts';

export interface ReadsOptions {
  /** `DATABASE_READ_URL`: each of its hosts is a standby. */
  readonly url: string;
  readonly primary: Database;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Connections at most, to each standby. */
  readonly poolSize: number;
  /** As that of `openDatabase`. */
  readonly prepared?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** A standby that lags more is not read from. Milliseconds. */
  readonly lagMaxMs: number;
  /** Told how many connections a standby has, whenever it is found. */
  readonly onRoom?: (host: string, room: ConnectionRoom) => void;
  readonly logger: Logger;
  readonly metrics: Registry;
}

/** Reads that hot standbys answer, and the primary where those won't do. */
export interface Reads {
  /**
   * For one request.
   * @param primary which it may have by another way than others
   * @param signal after which nobody waits for what is read
   */
  session(primary: ReadDatabase, signal?: AbortSignal): ReadSession;
  /** Waits for reads at work. */
  close(): Promise<void>;
}

const PRIMARY_EVERY_MS = 200;

/**
 * Opens the standbys of a primary. One that is away, lags or is none is left out for as long as that lasts, and told of once.
 * @throws {DatabaseError} DATABASE_URL_INVALID, STANDBYS_OF_CLUSTER; what the primary throws
 */
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
    return new Standby({ ...options, prepared, settings, onRoom, target: own, clusterId });
  });
  const history = createWalHistory();
  const lagOf = (standby: Standby) => history.lagOf(standby.lastReplayed ?? 0n, performance.now());
  const metrics = createReadMetrics(options.metrics);
  for (const standby of standbys) {
    const labels = { host: standby.host };
    metrics.lagSeconds.addSource(labels, () => lagOf(standby).ms / 1_000);
    metrics.lagBytes.addSource(labels, () => lagOf(standby).bytes);
    metrics.used.addSource(labels, () => (standby.replayed !== null && lagOf(standby).ms <= lagMaxMs ? 1 : 0));
  }
  const onStandbys = createStandbyReads({
    standbys,
    lagOf: (standby) => lagOf(standby).ms,
    lagMaxMs,
    logger,
    metrics,
  });
  const stopping = new AbortController();
  const watching = [
    watchPrimary(primary, history, { signal: stopping.signal, logger }),
    ...standbys.map((standby) => standby.watch(stopping.signal)),
  ];
  // So that the first requests find them.
  await Promise.all(standbys.map((standby) => standby.look()));
  return {
    session: (own, signal) =>
      createReadSession({
        onStandbys,
        primary: own,
        floor,
        signal,
        onPrimary: () => metrics.reads.inc({ host: 'primary', outcome: 'answered' }),
      }),
    async close() {
      stopping.abort();
      await Promise.all([...watching, ...standbys.map((standby) => standby.close())]);
    },
  };
}

/** A standby of the coordinator has its log alone: what workers have committed since, or not yet, no position of it tells. */
function standbysOfCluster(): DatabaseError {
  return new DatabaseError({
    code: 'STANDBYS_OF_CLUSTER',
    message:
      "DATABASE_READ_URL can't be used: tables are distributed over a cluster, and its standbys don't follow one log",
    remedy: 'Leave DATABASE_READ_URL unset: on a cluster, lists are read on the nodes that have them',
    retryable: false,
  });
}

/** Writes down where its log ends. What is not flushed yet no standby is given. */
async function watchPrimary(
  primary: Database,
  history: WalHistory,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const [row] = await primary.select<{ position: string }>('SELECT pg_current_wal_flush_lsn()::text AS position');
      if (row !== undefined) history.add(parseWalPosition(row.position), performance.now());
    } catch (error) {
      logger.debug({ error: errorText(error) }, 'The end of the log could not be read');
    }
    await sleepUnlessAborted(systemClock, PRIMARY_EVERY_MS, signal);
  }
}

/** What a server has in common with its copies alone. */
async function clusterOf(primary: Database): Promise<string> {
  const [row] = await primary.select<{ id: string }>('SELECT system_identifier::text AS id FROM pg_control_system()');
  if (row === undefined) throw new TypeError('SELECT without FROM returned no row');
  return row.id;
}
