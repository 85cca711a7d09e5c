import {
  type Clock,
  errorText,
  type Logger,
  type Registry,
  settlesWithin,
  sleepUnlessAborted,
} from '@chainstead/core';
import { type Database, failureLevel, listenTo, type Sql, sql } from '@chainstead/db';
import type { Egress } from '@chainstead/egress';
import { createAttemptRecorder } from './attempts.ts';
import { createDeliverWebhook, type WebhookBodies } from './deliver.ts';
import { measureDeliveries } from './delivery-metrics.ts';
import { createHostLanes, type HostLanes } from './host-lanes.ts';
import { createHostLeases, hostOf, readDueStreams } from './host-queues.ts';
import { DELIVERIES_CHANNEL } from './outbox.ts';
import { createStatusMachine, readQueueSizes } from './status.ts';

export interface DeliveryWorkerOptions {
  readonly database: Database;
  readonly egress: Egress;
  readonly bodies: WebhookBodies;
  readonly retryDelaysMs: readonly number[];
  /** Attempts, and matches with finished webhooks, are kept so long. @default 7 */
  readonly historyDays?: number;
  readonly concurrency: number;
  readonly concurrencyPerHost: number;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly sweepEveryMs?: number;
  readonly judgeEveryMs?: number;
  /** Until other processes take over a dead one's hosts. @default 10,000 */
  readonly leaseMs?: number;
  readonly postponeMs?: number;
}

/** Takes free leases of hosts with due webhooks. One process at a time serves a host. */
interface DeliveryWorker {
  start(): Promise<void>;
  /** Waits for webhooks in flight. After `timeoutMs` they are aborted and stay due. */
  stop(timeoutMs: number): Promise<void>;
}

const IDLE_SWEEP_EVERY_MS = 1_000;
const PRUNE_EVERY_MS = 3_600_000;
const HISTORY_DAYS = 7;
const DAY_MS = 86_400_000;
const MEASURE_EVERY_MS = 5_000;
const ABORT_GRACE_MS = 2_000;
/** Streams of no key share one part. */
const NO_KEY = '';

type Task = Omit<RepeatOptions, 'clock' | 'logger'>;

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, logger, clock, retryDelaysMs, historyDays = HISTORY_DAYS } = options;
  const time = createDatabaseClock(options);
  const metrics = measureDeliveries({ registry: options.metrics, database, logger });
  const { leaseMs = 10_000, sweepEveryMs = 200, judgeEveryMs = 5_000, postponeMs = 15_000 } = options;
  const leases = createHostLeases({ database, logger, leaseMs });
  const machine = createStatusMachine({ database, logger, metrics });
  const recorder = createAttemptRecorder({
    database,
    retryDelaysMs,
    clock,
    logger,
    onRecorded: (_attempts, { unhealthy }) => machine.failUnhealthy(unhealthy),
  });
  const stopping = new AbortController();
  const abandoned = new AbortController();
  const news = createNews();
  let streamsByHost: ReadonlyMap<string, readonly string[]> = new Map();
  let queueSizes: ReadonlyMap<string, number> = new Map();
  const lanes = createHostLanes({
    ...options,
    leases,
    webhooks: createDeliverWebhook({ ...options, clock: time, recorder, metrics, postponeMs }),
    streamsOf: (host) => streamsByHost.get(host) ?? [],
    queueSizeOf: (streamId) => queueSizes.get(streamId) ?? 1,
    isEnding: () => stopping.signal.aborted,
  });
  const hosts = createHostTurns(lanes, (host, key) => lanes.run(host, key, abandoned.signal), logger);
  let loops: readonly Promise<void>[] = [];
  let isAnyDue = true;

  async function judge(): Promise<void> {
    queueSizes = await readQueueSizes(database);
    await machine.failOverfull();
    await machine.terminateFailed();
  }
  async function sweep(): Promise<void> {
    const due = await readDueStreams(database);
    isAnyDue = due.length > 0;
    const byHost = Map.groupBy(due, ({ webhookUrl }) => hostOf(webhookUrl));
    streamsByHost = new Map(
      Array.from(byHost, ([host, streams]) => [host, streams.map(({ streamId }) => streamId)] as const),
    );
    if (byHost.size === 0) return hosts.offer(new Map());
    lanes.noteFailing(due.filter(({ isFailing }) => isFailing).map(({ webhookUrl }) => hostOf(webhookUrl)));
    const held = await leases.heldByOthers();
    const free = Array.from(byHost).filter(([host]) => !lanes.wake(host) && !held.has(host));
    hosts.offer(
      new Map(free.map(([host, streams]) => [host, streams.map(({ createdBy }) => createdBy ?? NO_KEY)])),
    );
  }

  return {
    async start() {
      await time.measure();
      const sweepsEveryMs = (): number => (isAnyDue ? sweepEveryMs : Math.max(sweepEveryMs, IDLE_SWEEP_EVERY_MS));
      const tasks: readonly Task[] = [
        { task: 'sweep', everyMs: sweepsEveryMs, work: sweep, sooner: news.next },
        { task: 'judge', everyMs: () => judgeEveryMs, work: judge },
        {
          task: 'prune',
          everyMs: () => PRUNE_EVERY_MS,
          work: () => pruneHistory(database, { before: new Date(time.now() - historyDays * DAY_MS) }),
        },
        { task: 'renew', everyMs: () => leaseMs / 4, work: () => leases.renew() },
        { task: 'clock', everyMs: () => MEASURE_EVERY_MS, work: () => time.measure() },
      ];
      loops = [
        listenTo({ ...options, channels: [DELIVERIES_CHANNEL], onNotification: news.report }, stopping.signal),
        ...tasks.map((task) => repeat({ ...task, clock, logger }, stopping.signal)),
      ];
    },
    async stop(timeoutMs) {
      stopping.abort();
      lanes.wakeAll();
      await Promise.all(loops);
      if (await settlesWithin(hosts.idle(), timeoutMs)) return;
      abandoned.abort(new Error('The process ends and waits for webhooks no longer'));
      if (!(await settlesWithin(hosts.idle(), ABORT_GRACE_MS)))
        logger.error(
          'Webhooks in flight did not finish: other workers take their hosts over when the leases expire',
        );
    },
  };
}

function createHostTurns(
  { rankOf, hasRoom, shareAmong }: Pick<HostLanes, 'rankOf' | 'hasRoom' | 'shareAmong'>,
  run: (host: string, key: string) => Promise<void>,
  logger: Logger,
) {
  const working = new Map<string, Promise<void>>();
  let lastTurns: readonly string[] = [];

  async function work(host: string, key: string): Promise<void> {
    try {
      await run(host, key);
    } catch (error) {
      logger[failureLevel(error)](
        { host, reason: errorText(error) },
        'Webhooks of a host could not be read and will be tried again',
      );
    }
    working.delete(host);
    lastTurns = [...lastTurns.filter((other) => other !== host), host];
  }

  return {
    /** @param hosts with the keys of their streams. Those that timed out wait behind those that respond. */
    offer(hosts: ReadonlyMap<string, readonly string[]>): void {
      lastTurns = lastTurns.filter((host) => hosts.has(host));
      const had = new Set(lastTurns);
      const inTurn = [...Array.from(hosts.keys()).filter((host) => !had.has(host)), ...lastTurns];
      const share = shareAmong([...hosts.values()].flat());
      const ranked = inTurn.toSorted((one, other) => rankOf(one) - rankOf(other));
      // Invariant: FAIR-KEYS
      for (const host of inTurnOfKeys(ranked, (one) => hosts.get(one)?.[0] ?? NO_KEY)) {
        if (working.has(host)) continue;
        const key = hosts.get(host)?.find((own) => hasRoom(host, own, share));
        if (key !== undefined) working.set(host, work(host, key));
      }
    },
    idle: (): Promise<unknown> => Promise.all(working.values()),
  };
}

/** The first host of each key, then the second of each, and so on. */
function inTurnOfKeys(hosts: readonly string[], keyOf: (host: string) => string): readonly string[] {
  const before = new Map<string, number>();
  const placed = hosts.map((host) => {
    const key = keyOf(host);
    const place = before.get(key) ?? 0;
    before.set(key, place + 1);
    return { host, place };
  });
  return placed.toSorted((one, other) => one.place - other.place).map(({ host }) => host);
}

function createNews() {
  let next = Promise.withResolvers<void>();
  return {
    report(): void {
      next.resolve();
      next = Promise.withResolvers();
    },
    next: (): Promise<void> => next.promise,
  };
}

const REPORTED_OFFSET_MS = 5_000;

/** Database time without a query per read: due times need one clock for all processes. */
function createDatabaseClock(options: { database: Pick<Database, 'query'>; clock: Clock; logger: Logger }) {
  const { database, clock, logger } = options;
  let offsetMs = 0;
  return {
    /** Milliseconds since the Unix epoch; local time until the first measurement. */
    now: (): number => clock.now() + offsetMs,
    async measure(): Promise<void> {
      const requested = clock.now();
      const [row] = await database.query<{ now: number }>(
        sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`,
      );
      if (row === undefined) return;
      const measured = Math.round(row.now - (requested + clock.now()) / 2);
      if (Math.abs(measured) >= REPORTED_OFFSET_MS && Math.abs(measured - offsetMs) >= REPORTED_OFFSET_MS)
        logger.warn(
          { behind_ms: measured },
          "This machine's clock differs from the database's, which is the one that counts: set it by NTP",
        );
      offsetMs = measured;
    },
  };
}

/** After the last match: pruning must not compete with delivery. */
const ITEMS_REST = sql`interval '10 minutes'`;

/** Keeps rows pending delivery or confirmation, and data behind remaining attempts. */
export async function pruneHistory(
  database: Database,
  { before, batch = 5_000 }: { before: Date; batch?: number },
) {
  const removeAll = async (statement: Sql): Promise<number> => {
    let removed = 0;
    for (;;) {
      const [row] = await database.query<{ removed: number }>(statement);
      removed += row?.removed ?? 0;
      if ((row?.removed ?? 0) < batch) return removed;
    }
  };
  return {
    attempts: await removeAll(sql`WITH old AS (
        SELECT created_at, id FROM stream_attempts WHERE created_at < ${before} ORDER BY created_at, id LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ), gone AS (
        DELETE FROM stream_attempts a USING old WHERE (a.created_at, a.id) = (old.created_at, old.id) RETURNING 1
      ) SELECT count(*) AS removed FROM gone`),
    deliveries: await removeAll(sql`WITH old AS (
        SELECT id FROM stream_deliveries d WHERE status <> 'pending' AND created_at < ${before} AND NOT EXISTS (
          SELECT FROM stream_attempts a WHERE a.chain_id = d.chain_id AND a.block_number = d.block_number
            AND a.stream_id = d.stream_id)
        LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ), gone AS (
        DELETE FROM stream_deliveries WHERE id IN (SELECT id FROM old) RETURNING 1
      ) SELECT count(*) AS removed FROM gone`),
    matches: await removeAll(sql`WITH old AS (
        SELECT chain_id, block_number, stream_id, block_hash FROM stream_matches m
        WHERE (confirmed OR removed_at IS NOT NULL) AND block_timestamp < ${before} AND NOT EXISTS (
          SELECT FROM stream_deliveries d WHERE d.chain_id = m.chain_id AND d.block_number = m.block_number
            AND d.stream_id = m.stream_id AND d.block_hash = m.block_hash)
        LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ), forgotten AS (
        DELETE FROM stream_match_transactions t USING old
        WHERE (t.chain_id, t.block_number, t.stream_id, t.block_hash)
          = (old.chain_id, old.block_number, old.stream_id, old.block_hash)
      ), gone AS (
        DELETE FROM stream_matches m USING old
        WHERE (m.chain_id, m.block_number, m.stream_id, m.block_hash)
          = (old.chain_id, old.block_number, old.stream_id, old.block_hash) RETURNING 1
      ) SELECT count(*) AS removed FROM gone`),
    // A match that refers to an item touches it, which the lock waits for.
    items: await removeAll(
      sql`WITH old AS (
        SELECT chain_id, block_number, block_hash, kind, place FROM stream_items i
        WHERE used_at < now() - ${ITEMS_REST} AND NOT EXISTS (
          SELECT FROM stream_matches m WHERE m.chain_id = i.chain_id AND m.block_number = i.block_number
            AND m.block_hash = i.block_hash AND m.matched <> '')
        LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ), gone AS (
        DELETE FROM stream_items i USING old
        WHERE (i.chain_id, i.block_number, i.block_hash, i.kind, i.place)
          = (old.chain_id, old.block_number, old.block_hash, old.kind, old.place) RETURNING 1
      ) SELECT count(*) AS removed FROM gone`,
    ),
  };
}

interface RepeatOptions {
  readonly task: string;
  readonly everyMs: () => number;
  readonly work: () => Promise<unknown>;
  /** When it resolves, the next run starts immediately. */
  readonly sooner?: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

async function repeat(options: RepeatOptions, signal: AbortSignal): Promise<void> {
  const { task, everyMs, work, sooner, clock, logger } = options;
  while (!signal.aborted) {
    const woken = sooner?.();
    try {
      await work();
    } catch (error) {
      logger[failureLevel(error)](
        { task, reason: errorText(error) },
        'Work on the outbox failed and will be tried again',
      );
    }
    const waiting = new AbortController();
    const waited = sleepUnlessAborted(clock, everyMs(), AbortSignal.any([signal, waiting.signal]));
    await (woken === undefined ? waited : Promise.race([waited, woken]));
    waiting.abort();
  }
}
