import { type Clock, errorText, type Logger, type Registry, settlesWithin } from '@chainstead/core';
import { type Database, failureLevel, listenTo } from '@chainstead/db';
import type { Egress } from '@chainstead/egress';
import { createAttemptRecorder } from './attempt-recorder.ts';
import { createDatabaseClock } from './database-clock.ts';
import { createDeliverWebhook, type WebhookBodies } from './deliver-webhook.ts';
import { DELIVERIES_CHANNEL } from './deliveries-channel.ts';
import { measureDeliveries } from './delivery-metrics.ts';
import { hostOf, readDueStreams } from './due-streams.ts';
import { createHostLanes, type HostLanes } from './host-lanes.ts';
import { createHostLeases } from './host-leases.ts';
import { pruneHistory } from './prune-history.ts';
import { type RepeatOptions, repeat } from './repeat.ts';
import { createStatusMachine, readQueueSizes } from './status-machine.ts';

export interface DeliveryWorkerOptions {
  readonly database: Database;
  readonly egress: Egress;
  readonly bodies: WebhookBodies;
  readonly retryDelaysMs: readonly number[];
  readonly historyDays: number;
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
export interface DeliveryWorker {
  start(): Promise<void>;
  /** Waits for webhooks in flight. After `timeoutMs` they are aborted and stay due. */
  stop(timeoutMs: number): Promise<void>;
}

const IDLE_SWEEP_EVERY_MS = 1_000;
const PRUNE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MEASURE_EVERY_MS = 5_000;
const ABORT_GRACE_MS = 2_000;
/** Streams of no key share one part. */
const NO_KEY = '';

type Task = Omit<RepeatOptions, 'clock' | 'logger'>;

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, logger, clock, retryDelaysMs } = options;
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
          work: () => pruneHistory(database, { before: new Date(time.now() - options.historyDays * DAY_MS) }),
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
