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
  /** Webhooks under way at once, of all hosts. */
  readonly concurrency: number;
  readonly concurrencyPerHost: number;
  /** Streams whose webhooks go to a host, as far as any are due. */
  readonly streamsOf: (host: string) => readonly string[];
  /** Webhooks of a stream that wait. */
  readonly queueSizeOf: (streamId: string) => number;
  readonly isEnding: () => boolean;
}

/** The hosts that this process is sending to. */
export interface HostLanes {
  /** Hosts at once at most: half of the concurrency is one webhook for each, the other half is shared by those that can use it. */
  readonly hostsMax: number;
  /** Sends what is due to a host, until nothing is or its turn is over. */
  run(host: string, signal: AbortSignal): Promise<void>;
  /** @returns false when the host is not being sent to. */
  wake(host: string): boolean;
  wakeAll(): void;
}

/** A webhook in hand, and the settings under which it was taken. */
interface Claimed extends PreparedDelivery {
  readonly settings: StreamSettings;
}

/** How long a host is worked on before others that wait get their turn. Milliseconds. */
const TURN_MS = 20_000;

export function createHostLanes(options: HostLanesOptions): HostLanes {
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

  /** Across all hosts: a stream may change its host while a webhook of it is under way. */
  const inHand = new Set<string>();

  async function claim(host: string, limit: number, signal: AbortSignal): Promise<readonly Claimed[]> {
    if (!leases.isHeld(host)) return [];
    const request = { streamIds: streamsOf(host), limit, without: [...inHand] };
    const [settings, due] = await Promise.all([readStreamSettings(database), readDueDeliveries(database, request)]);
    const claimed = due.filter(({ delivery }) => !inHand.has(delivery.id));
    for (const { delivery } of claimed) inHand.add(delivery.id);
    return claimed.map((one) => ({ ...webhooks.prepare(one, signal), settings }));
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
    hostsMax,
    async run(host, signal) {
      // A queue that was lost and filled again may have a second job of the same host.
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
    wake(host) {
      const lane = lanes.get(host);
      lane?.wake();
      return lane !== undefined;
    },
    wakeAll() {
      for (const lane of lanes.values()) lane.wake();
    },
  };
}
