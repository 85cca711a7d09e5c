import { type Clock, errorText, type Logger, type Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Egress } from '@chainstead/egress';
import type { Job, Jobs } from '@chainstead/jobs';
import { z } from 'zod';
import { readStreamSettings } from '../records/settings.ts';
import { createAttemptRecorder } from './attempt-recorder.ts';
import { claimDeliveries } from './claim-deliveries.ts';
import { createDeliverWebhook, type WebhookBodies } from './deliver-webhook.ts';
import type { Delivery } from './delivery.ts';
import { createDeliveryMetrics } from './delivery-metrics.ts';
import { hostOf, readDueStreams } from './due-streams.ts';
import { createHostLane, type HostLane } from './host-lane.ts';
import { createLeases } from './leases.ts';
import { pruneHistory } from './prune-history.ts';
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
  /** How long what a dead process had in hand stays unsent. Default 20,000 ms. */
  readonly leaseMs?: number;
  /** How long a dead process keeps the hosts that it was sending to. Default 10,000 ms. */
  readonly lockMs?: number;
  /** How long a webhook waits whose body can't be made yet. Default 15,000 ms. */
  readonly postponeMs?: number;
}

/**
 * Sends the webhooks of the outbox. A sweep finds the hosts with webhooks to send and adds a job for each, under the host's name:
 * so a host is worked on by one process at a time, with so many webhooks under way and no more, and a slow host holds up nobody.
 * The job claims rows and sends them. A queue that is lost is filled again by the next sweep.
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
const LEASE_MS = 20_000;
const LOCK_MS = 10_000;
const POSTPONE_MS = 15_000;
/** How long a host is worked on before others that wait get their turn. Milliseconds. */
const TURN_MS = 20_000;
/** A host's job is added again after so long when nothing is heard of it: the queue may have been lost. Milliseconds. */
const ADD_AGAIN_MS = 2_000;

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, jobs, logger, clock } = options;
  const metrics = createDeliveryMetrics({ registry: options.metrics, database, logger });
  const leaseMs = options.leaseMs ?? LEASE_MS;
  const leases = createLeases({ database, clock, logger, leaseMs });
  const machine = createStatusMachine({ database, clock, logger, metrics });
  const recorder = createAttemptRecorder({
    database,
    retries: options.retries,
    clock,
    logger,
    onRecorded: (_attempts, { unhealthy }) => machine.failUnhealthy(unhealthy),
  });
  const deliver = createDeliverWebhook({
    ...options,
    recorder,
    leases,
    metrics,
    postponeMs: options.postponeMs ?? POSTPONE_MS,
  });
  const stopping = new AbortController();
  const lanes = new Map<string, HostLane>();
  const addedAt = new Map<string, number>();
  const loops: Promise<void>[] = [];
  let streamsByHost: ReadonlyMap<string, readonly string[]> = new Map();
  let queueSizes: ReadonlyMap<string, number> = new Map();

  // Half of the concurrency is one for each host, the other half is shared by those that can use it.
  const hostsMax = Math.ceil(options.concurrency / 2);
  const shared = options.concurrency - hostsMax;
  function allowance(underWay: number): number {
    let extras = 0;
    for (const lane of lanes.values()) extras += Math.max(0, lane.underWay - 1);
    const fair = 1 + Math.floor(shared / lanes.size);
    const free = Math.max(underWay, 1) + Math.max(0, shared - extras);
    return Math.max(1, Math.min(options.concurrencyPerHost, fair, free));
  }

  async function workOnHost({ payload: { host }, signal }: Job<Payload>): Promise<void> {
    // A queue that was lost and filled again may have a second job of the same host.
    if (lanes.has(host)) return;
    let settings = await readStreamSettings(database);
    const lane = createHostLane<Delivery>({
      async claim(limit) {
        const until = leases.end();
        const streamIds = streamsByHost.get(host) ?? [];
        const request = { streamIds, limit, now: new Date(clock.now()), until };
        const claimed = await claimDeliveries(database, request);
        for (const { id } of claimed) leases.hold(id, until);
        if (claimed.length > 0) settings = await readStreamSettings(database);
        return claimed;
      },
      deliver: (delivery) => deliver(delivery, { settings, queueSize: queueSizes.get(delivery.streamId) ?? 1 }, signal),
      allowance,
      isEnding: () => stopping.signal.aborted,
      turnMs: TURN_MS,
      clock,
    });
    lanes.set(host, lane);
    try {
      await lane.run();
    } finally {
      lanes.delete(host);
      addedAt.delete(host);
    }
  }

  async function start(): Promise<void> {
    const queue = jobs.queue<Payload>(QUEUE, { schema: payloadSchema, lockMs: options.lockMs ?? LOCK_MS });

    async function sweep(): Promise<void> {
      const due = await readDueStreams(database, new Date(clock.now()));
      const byHost = Map.groupBy(due, ({ webhookUrl }) => hostOf(webhookUrl));
      streamsByHost = new Map(
        Array.from(byHost, ([host, streams]) => [host, streams.map(({ streamId }) => streamId)] as const),
      );
      const now = clock.now();
      const hosts: string[] = [];
      for (const host of byHost.keys()) {
        const lane = lanes.get(host);
        if (lane !== undefined) lane.wake();
        else if ((addedAt.get(host) ?? -Infinity) + ADD_AGAIN_MS <= now) hosts.push(host);
      }
      for (const [host, at] of addedAt) if (!byHost.has(host) && at + ADD_AGAIN_MS <= now) addedAt.delete(host);
      if (hosts.length === 0) return;
      await queue.addBulk(hosts.map((host) => ({ id: host, payload: { host } })));
      for (const host of hosts) addedAt.set(host, now);
    }

    async function judge(): Promise<void> {
      queueSizes = await readQueueSizes(database);
      await machine.failOverfull();
      await machine.terminateFailed();
    }

    await queue.work(workOnHost, { concurrency: hostsMax });
    loops.push(
      repeat('sweep', options.sweepEveryMs ?? SWEEP_EVERY_MS, sweep),
      repeat('judge', options.judgeEveryMs ?? JUDGE_EVERY_MS, judge),
      repeat('prune', PRUNE_EVERY_MS, async () => {
        await pruneHistory(database, { before: new Date(clock.now() - options.historyDays * 86_400_000) });
      }),
      repeat('renew', leaseMs / 4, () => leases.renew()),
    );
  }

  /** Until the worker stops; a failure is told of, and the work is tried again. */
  async function repeat(task: string, everyMs: number, work: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await work();
      } catch (error) {
        logger.warn({ task, reason: errorText(error) }, 'Work on the outbox failed and will be tried again');
      }
      await clock.sleep(everyMs, stopping.signal).catch(() => undefined);
    }
  }

  return {
    start,
    async stop() {
      stopping.abort();
      for (const lane of lanes.values()) lane.wake();
      await Promise.all(loops);
    },
  };
}
