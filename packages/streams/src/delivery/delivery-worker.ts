import { type Clock, errorText, type Logger, type Registry, settlesWithin } from '@chainstead/core';
import { type Database, failureLevel } from '@chainstead/db';
import type { Egress } from '@chainstead/egress';
import { createAttemptRecorder } from './attempt-recorder.ts';
import { createDatabaseClock } from './database-clock.ts';
import { createDeliverWebhook, type WebhookBodies } from './deliver-webhook.ts';
import { createDeliveryMetrics } from './delivery-metrics.ts';
import { hostOf, readDueStreams } from './due-streams.ts';
import { hearDeliveries } from './hear-deliveries.ts';
import { createHostLanes } from './host-lanes.ts';
import { createHostLeases } from './host-leases.ts';
import { pruneHistory } from './prune-history.ts';
import { repeat } from './repeat.ts';
import type { RetryPolicy } from './retry-policy.ts';
import { createStatusMachine, readQueueSizes } from './status-machine.ts';

export interface DeliveryWorkerOptions {
  readonly database: Database;
  /** Allowed to reach what the operator allows webhooks to reach. */
  readonly egress: Egress;
  readonly bodies: WebhookBodies;
  readonly retries: RetryPolicy;
  /** How long attempts and what was sent are kept. */
  readonly historyDays: number;
  /** Webhooks under way at once in this process. */
  readonly concurrency: number;
  readonly concurrencyPerHost: number;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock: Clock;
  /** How often the outbox is looked at. Default 200 ms. */
  readonly sweepEveryMs?: number;
  /** How often queue sizes and streams in error are looked at. Default 5,000 ms. */
  readonly judgeEveryMs?: number;
  /** How long the hosts of a dead process get nothing. Default 10,000 ms. */
  readonly leaseMs?: number;
  /** How long a webhook waits whose body can't be made yet. Default 15,000 ms. */
  readonly postponeMs?: number;
}

/**
 * Sends the webhooks of the outbox, with nothing but the database. A sweep finds the hosts with webhooks to send, takes the lease of
 * those that no process has, reads what is due and sends it: so a host is worked on by one process at a time, with so many webhooks
 * under way and no more, and a slow host holds up nobody.
 */
export interface DeliveryWorker {
  start(): Promise<void>;
  /** Begins nothing more and waits for what is under way; after `timeoutMs` that is broken off, and stays due. */
  stop(timeoutMs: number): Promise<void>;
}

const SWEEP_EVERY_MS = 200;
const JUDGE_EVERY_MS = 5_000;
const PRUNE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const LEASE_MS = 10_000;
const POSTPONE_MS = 15_000;
const MEASURE_EVERY_MS = 5_000;
/** What webhooks under way have left to notice that they are broken off. Milliseconds. */
const ABORT_GRACE_MS = 2_000;

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, logger, clock } = options;
  const time = createDatabaseClock(options);
  const metrics = createDeliveryMetrics({ registry: options.metrics, database, logger });
  const leaseMs = options.leaseMs ?? LEASE_MS;
  const leases = createHostLeases({ database, logger, leaseMs });
  const machine = createStatusMachine({ database, logger, metrics });
  const recorder = createAttemptRecorder({
    database,
    retries: options.retries,
    clock,
    logger,
    onRecorded: (_attempts, { unhealthy }) => machine.failUnhealthy(unhealthy),
  });
  const postponeMs = options.postponeMs ?? POSTPONE_MS;
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
  const hosts = createHostTurns({
    hostsMax: lanes.hostsMax,
    run: (host) => lanes.run(host, abandoned.signal),
    logger,
  });
  let loops: readonly Promise<void>[] = [];

  async function judge(): Promise<void> {
    queueSizes = await readQueueSizes(database);
    await machine.failOverfull();
    await machine.terminateFailed();
  }
  async function prune(): Promise<void> {
    await pruneHistory(database, { before: new Date(time.now() - options.historyDays * DAY_MS) });
  }

  async function sweep(): Promise<void> {
    const due = await readDueStreams(database);
    const byHost = Map.groupBy(due, ({ webhookUrl }) => hostOf(webhookUrl));
    streamsByHost = new Map(
      Array.from(byHost, ([host, streams]) => [host, streams.map(({ streamId }) => streamId)] as const),
    );
    // Most of the time nothing is due.
    if (byHost.size === 0) return hosts.offer([]);
    const held = await leases.heldByOthers();
    hosts.offer([...byHost.keys()].filter((host) => !lanes.wake(host) && !held.has(host)));
  }

  return {
    async start() {
      await time.measure();
      const again = (task: string, everyMs: number, work: () => Promise<void>, sooner?: () => Promise<void>) =>
        repeat({ task, everyMs, work, clock, logger, ...(sooner === undefined ? {} : { sooner }) }, stopping.signal);
      loops = [
        hearDeliveries({ database, clock, logger, onNews: news.tell }, stopping.signal),
        again('sweep', options.sweepEveryMs ?? SWEEP_EVERY_MS, sweep, news.next),
        again('judge', options.judgeEveryMs ?? JUDGE_EVERY_MS, judge),
        again('prune', PRUNE_EVERY_MS, prune),
        again('renew', leaseMs / 4, () => leases.renew()),
        again('clock', MEASURE_EVERY_MS, () => time.measure()),
      ];
    },
    async stop(timeoutMs) {
      stopping.abort();
      lanes.wakeAll();
      await Promise.all(loops);
      if (await settlesWithin(hosts.idle(), timeoutMs)) return;
      abandoned.abort(new Error('The process ends and waits for webhooks no longer'));
      if (!(await settlesWithin(hosts.idle(), ABORT_GRACE_MS)))
        logger.error('Webhooks in flight did not finish: other workers take their hosts over when the leases expire');
    },
  };
}

/** Works on hosts, on so many at once, those first that had their last turn longest ago. */
function createHostTurns(options: {
  readonly hostsMax: number;
  readonly run: (host: string) => Promise<void>;
  readonly logger: Logger;
}) {
  const { hostsMax, run, logger } = options;
  const working = new Map<string, Promise<void>>();
  /** By their last turns, longest ago first; those that have nothing due any more are forgotten. */
  let lastTurns: readonly string[] = [];

  async function work(host: string): Promise<void> {
    try {
      await run(host);
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
    offer(hosts: readonly string[]): void {
      const offered = new Set(hosts);
      lastTurns = lastTurns.filter((host) => offered.has(host));
      const had = new Set(lastTurns);
      for (const host of [...hosts.filter((one) => !had.has(one)), ...lastTurns])
        if (working.size < hostsMax && !working.has(host)) working.set(host, work(host));
    },
    /** Resolves when none is worked on. */
    async idle(): Promise<void> {
      await Promise.all(working.values());
    },
  };
}

/** What one tells and another waits for. */
function createNews() {
  let next = Promise.withResolvers<void>();
  return {
    tell(): void {
      next.resolve();
      next = Promise.withResolvers();
    },
    next: (): Promise<void> => next.promise,
  };
}
