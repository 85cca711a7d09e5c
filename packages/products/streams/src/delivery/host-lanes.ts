import type { Clock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { readStreamSettings, type StreamSettings } from '../records/settings.ts';
import type { DeliverWebhook, PreparedDelivery } from './deliver-webhook.ts';
import { readDueDeliveries } from './due-deliveries.ts';
import { createHostLane, type HostLane } from './host-lane.ts';
import type { HostLeases } from './host-leases.ts';

export interface HostLanesOptions {
  readonly database: Database;
  readonly leases: HostLeases;
  readonly webhooks: DeliverWebhook;
  readonly clock: Clock;
  readonly concurrency: number;
  readonly concurrencyPerHost: number;
  readonly streamsOf: (host: string) => readonly string[];
  readonly queueSizeOf: (streamId: string) => number;
  readonly isEnding: () => boolean;
}

export type HostLanes = ReturnType<typeof createHostLanes>;

interface Claimed extends PreparedDelivery {
  readonly settings: StreamSettings;
}

/** Milliseconds until waiting hosts get their turn. */
const TURN_MS = 20_000;

export function createHostLanes(options: HostLanesOptions) {
  const { database, leases, webhooks, clock, concurrency, streamsOf, queueSizeOf, isEnding } = options;
  const lanes = new Map<string, HostLane>();
  const hostsMax = Math.ceil(concurrency / 2);
  const shared = concurrency - hostsMax;

  function allowance(underWay: number): number {
    let extras = 0;
    for (const lane of lanes.values()) extras += Math.max(0, lane.underWay - 1);
    const fair = 1 + Math.floor(shared / lanes.size);
    const free = Math.max(underWay, 1) + Math.max(0, shared - extras);
    return Math.max(1, Math.min(options.concurrencyPerHost, fair, free));
  }

  /** For all hosts: a stream may change its host while a webhook is in flight. */
  const inHand = new Set<string>();

  async function claim(host: string, limit: number, signal: AbortSignal): Promise<readonly Claimed[]> {
    if (!leases.isHeld(host)) return [];
    const request = { streamIds: streamsOf(host), limit, without: [...inHand] };
    const [settings, due] = await Promise.all([
      readStreamSettings(database),
      readDueDeliveries(database, request),
    ]);
    const claimed = due.filter(({ delivery }) => !inHand.has(delivery.id));
    for (const { delivery } of claimed) inHand.add(delivery.id);
    return claimed.map((delivery) => ({ ...webhooks.prepare(delivery, signal), settings }));
  }

  function laneOf(host: string, signal: AbortSignal): HostLane {
    const isHeld = (): boolean => leases.isHeld(host);
    return createHostLane<Claimed>({
      claim: (limit) => claim(host, limit, signal),
      async deliver(claimed, onTaken) {
        const { id, streamId } = claimed.delivery;
        const facts = { settings: claimed.settings, queueSize: queueSizeOf(streamId), isHeld };
        await webhooks.deliver(claimed, facts, signal, onTaken);
        inHand.delete(id);
      },
      putBack(claimed) {
        for (const { delivery } of claimed) inHand.delete(delivery.id);
      },
      allowance,
      isEnding,
      turnMs: TURN_MS,
      clock,
    });
  }

  return {
    /** Half of the concurrency is one webhook per host; hosts share the other half. */
    hostsMax,
    async run(host: string, signal: AbortSignal): Promise<void> {
      // A refilled queue may contain a second job for the same host.
      if (lanes.has(host)) return;
      const lane = laneOf(host, signal);
      lanes.set(host, lane);
      try {
        if (await leases.take(host)) await lane.run();
      } finally {
        await leases.letGo(host);
        lanes.delete(host);
      }
    },
    /** @returns false if this process is not sending to the host */
    wake(host: string): boolean {
      const lane = lanes.get(host);
      lane?.wake();
      return lane !== undefined;
    },
    wakeAll(): void {
      for (const lane of lanes.values()) lane.wake();
    },
  };
}
