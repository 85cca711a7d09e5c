import type { Clock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { readStreamSettings } from '../records/settings.ts';
import { claimDeliveries, giveBack } from './claim-deliveries.ts';
import type { DeliverWebhook } from './deliver-webhook.ts';
import type { Delivery } from './delivery.ts';
import { createHostLane, type HostLane } from './host-lane.ts';
import type { Leases } from './leases.ts';

export interface HostLanesOptions {
  readonly database: Database;
  readonly leases: Leases;
  readonly deliver: DeliverWebhook;
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

/** How long a host is worked on before others that wait get their turn. Milliseconds. */
const TURN_MS = 20_000;

export function createHostLanes(options: HostLanesOptions): HostLanes {
  const { database, leases, deliver, clock, concurrency, streamsOf, queueSizeOf, isEnding } = options;
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

  async function claim(host: string, limit: number): Promise<readonly Delivery[]> {
    const until = leases.end();
    const request = { streamIds: streamsOf(host), limit, now: new Date(clock.now()), until };
    const claimed = await claimDeliveries(database, request);
    for (const { id } of claimed) leases.hold(id, until);
    return claimed;
  }

  async function putBack(deliveries: readonly Delivery[]): Promise<void> {
    for (const { id } of deliveries) leases.letGo(id);
    await giveBack(database, deliveries, new Date(clock.now()));
  }

  return {
    hostsMax,
    async run(host, signal) {
      // A queue that was lost and filled again may have a second job of the same host.
      if (lanes.has(host)) return;
      let settings = await readStreamSettings(database);
      const lane = createHostLane<Delivery>({
        async claim(limit) {
          const [claimed, current] = await Promise.allSettled([claim(host, limit), readStreamSettings(database)]);
          if (claimed.status === 'rejected') throw claimed.reason;
          if (current.status === 'rejected') {
            // Nobody else would hold what was claimed, and its lease would be renewed for as long as this process lives.
            await putBack(claimed.value);
            throw current.reason;
          }
          settings = current.value;
          return claimed.value;
        },
        deliver: (delivery, onTaken) =>
          deliver(delivery, { settings, queueSize: queueSizeOf(delivery.streamId) }, signal, onTaken),
        giveBack: putBack,
        allowance,
        isEnding,
        turnMs: TURN_MS,
        clock,
      });
      lanes.set(host, lane);
      try {
        await lane.run();
      } finally {
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
