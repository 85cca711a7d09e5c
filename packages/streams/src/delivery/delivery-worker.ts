import type { Clock, Logger, Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Egress } from '@chainstead/egress';
import type { JobQueue, Jobs } from '@chainstead/jobs';
import { z } from 'zod';
import { createAttemptRecorder } from './attempt-recorder.ts';
import { createDeliverWebhook, type WebhookBodies } from './deliver-webhook.ts';
import { createDeliveryMetrics } from './delivery-metrics.ts';
import { hostOf, readDueStreams } from './due-streams.ts';
import { hearDeliveries } from './hear-deliveries.ts';
import { createHostLanes, type HostLanes } from './host-lanes.ts';
import { createHostLeases } from './host-leases.ts';
import { pruneHistory } from './prune-history.ts';
import { repeat } from './repeat.ts';
import type { RetryPolicy } from './retry-policy.ts';
import { createStatusMachine, readQueueSizes } from './status-machine.ts';

export interface DeliveryWorkerOptions {
  readonly database: Database;
  readonly jobs: Jobs;
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
  /** How long the queue takes a dead process' jobs for being worked on. Default 10,000 ms. */
  readonly lockMs?: number;
  /** How long a webhook waits whose body can't be made yet. Default 15,000 ms. */
  readonly postponeMs?: number;
}

/**
 * Sends the webhooks of the outbox. A sweep finds the hosts with webhooks to send and adds a job for each, under the host's name:
 * so a host is worked on by one process at a time, with so many webhooks under way and no more, and a slow host holds up nobody.
 * The job takes the host's lease, reads what is due and sends it. A queue that is lost is filled again by the next sweep.
 */
export interface DeliveryWorker {
  /** Queues are closed by `jobs.close()`. */
  start(): Promise<void>;
  /** Begins nothing more. What is under way ends by itself, or when the jobs' own time to close is over. */
  stop(): Promise<void>;
}

const payloadSchema = z.object({ host: z.string() });
type Payload = z.infer<typeof payloadSchema>;

const QUEUE = 'webhooks';
const SWEEP_EVERY_MS = 200;
const JUDGE_EVERY_MS = 5_000;
const PRUNE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const LEASE_MS = 10_000;
const LOCK_MS = 10_000;
const POSTPONE_MS = 15_000;
/** A host's job is added again after so long when nothing is heard of it: the queue may have been lost. Milliseconds. */
const ADD_AGAIN_MS = 2_000;
/** Longer than the queue takes to forget a job that has ended; under its id nothing is added before. Milliseconds. */
const FORGET_MS = 50;

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, jobs, logger, clock } = options;
  const metrics = createDeliveryMetrics({ registry: options.metrics, database, logger });
  const leaseMs = options.leaseMs ?? LEASE_MS;
  const leases = createHostLeases({ database, clock, logger, leaseMs });
  const machine = createStatusMachine({ database, clock, logger, metrics });
  const recorder = createAttemptRecorder({
    database,
    retries: options.retries,
    clock,
    logger,
    onRecorded: (_attempts, { unhealthy }) => machine.failUnhealthy(unhealthy),
  });
  const postponeMs = options.postponeMs ?? POSTPONE_MS;
  const stopping = new AbortController();
  const news = createNews();
  const sweeps = createSweeps(database, clock);
  let queueSizes: ReadonlyMap<string, number> = new Map();
  const lanes = createHostLanes({
    ...options,
    leases,
    webhooks: createDeliverWebhook({ ...options, recorder, metrics, postponeMs }),
    streamsOf: sweeps.streamsOf,
    queueSizeOf: (streamId) => queueSizes.get(streamId) ?? 1,
    isEnding: () => stopping.signal.aborted,
  });
  let loops: readonly Promise<void>[] = [];

  async function judge(): Promise<void> {
    queueSizes = await readQueueSizes(database);
    await machine.failOverfull();
    await machine.terminateFailed();
  }
  async function prune(): Promise<void> {
    await pruneHistory(database, { before: new Date(clock.now() - options.historyDays * DAY_MS) });
  }

  return {
    async start() {
      const queue = jobs.queue<Payload>(QUEUE, { schema: payloadSchema, lockMs: options.lockMs ?? LOCK_MS });
      await queue.work(
        async ({ payload: { host }, signal }) => {
          await lanes.run(host, signal);
          sweeps.ended(host);
        },
        { concurrency: lanes.hostsMax },
      );
      const again = (task: string, everyMs: number, work: () => Promise<void>, sooner?: () => Promise<void>) =>
        repeat({ task, everyMs, work, clock, logger, ...(sooner === undefined ? {} : { sooner }) }, stopping.signal);
      loops = [
        hearDeliveries({ database, clock, logger, onNews: news.tell }, stopping.signal),
        again('sweep', options.sweepEveryMs ?? SWEEP_EVERY_MS, () => sweeps.sweep(queue, lanes), news.next),
        again('judge', options.judgeEveryMs ?? JUDGE_EVERY_MS, judge),
        again('prune', PRUNE_EVERY_MS, prune),
        again('renew', leaseMs / 4, () => leases.renew()),
      ];
    },
    async stop() {
      stopping.abort();
      lanes.wakeAll();
      await Promise.all(loops);
    },
  };
}

/** Looks into the outbox which hosts have webhooks to get, and has them worked on. */
function createSweeps(database: Database, clock: Clock) {
  const addedAt = new Map<string, number>();
  let streamsByHost: ReadonlyMap<string, readonly string[]> = new Map();
  return {
    streamsOf: (host: string): readonly string[] => streamsByHost.get(host) ?? [],
    /** A host's job is done: another one may be added soon, when the queue has forgotten this one. */
    ended: (host: string): void => void addedAt.set(host, clock.now() - ADD_AGAIN_MS + FORGET_MS),
    async sweep(queue: JobQueue<Payload>, lanes: HostLanes): Promise<void> {
      const now = clock.now();
      const due = await readDueStreams(database, new Date(now));
      const byHost = Map.groupBy(due, ({ webhookUrl }) => hostOf(webhookUrl));
      streamsByHost = new Map(
        Array.from(byHost, ([host, streams]) => [host, streams.map(({ streamId }) => streamId)] as const),
      );
      for (const [host, at] of addedAt) if (at + ADD_AGAIN_MS <= now) addedAt.delete(host);
      const hosts = [...byHost.keys()].filter((host) => !lanes.wake(host) && !addedAt.has(host));
      if (hosts.length === 0) return;
      await queue.addBulk(hosts.map((host) => ({ id: host, payload: { host } })));
      for (const host of hosts) addedAt.set(host, now);
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
