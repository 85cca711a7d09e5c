import { type Clock, createTurns } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { readStreamSettings, type StreamSettings } from '../records/settings.ts';
import type { DeliverWebhook, PreparedDelivery, SendingFacts } from './deliver-webhook.ts';
import { readDueDeliveries } from './due-deliveries.ts';
import { createHostLane, type HostLane } from './host-lane.ts';
import type { HostLeases } from './host-leases.ts';
import { createHostShares } from './host-shares.ts';

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

/** A claim takes two of the process's ten connections: those of a key with many hosts leave some to other keys. */
const READS = { atOnce: 8, atOncePerKey: 6, atOnceAmongKeys: 2 };
/** Milliseconds until waiting hosts get their turn. */
const TURN_MS = 20_000;

export function createHostLanes(options: HostLanesOptions) {
  const { database, leases, webhooks, clock, streamsOf, queueSizeOf, isEnding } = options;
  const shares = createHostShares(options);

  /** For all hosts: a stream may change its host while a webhook is in flight. */
  const inHand = new Set<string>();
  // Invariant: FAIR-KEYS
  const { run: inTurn } = createTurns({ ...READS, now: clock.now });

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

  function laneOf(host: string, key: string, signal: AbortSignal): HostLane {
    let isOver = false;
    const onOutcome: SendingFacts['onOutcome'] = (outcome) => {
      isOver = shares.noteOutcome(host, outcome) || isOver;
    };
    const isHeld = (): boolean => leases.isHeld(host);
    return createHostLane<Claimed>({
      claim: (limit) => inTurn(key, () => claim(host, limit, signal)),
      async deliver(claimed, onTaken) {
        const { id, streamId } = claimed.delivery;
        const { settings } = claimed;
        const facts = { settings, key, queueSize: queueSizeOf(streamId), isHeld, onOutcome };
        await webhooks.deliver(claimed, facts, signal, onTaken);
        inHand.delete(id);
      },
      putBack(claimed) {
        for (const { delivery } of claimed) inHand.delete(delivery.id);
      },
      allowance: (underWay) => shares.allowance(host, underWay),
      isEnding: () => isOver || isEnding(),
      turnMs: TURN_MS,
      clock,
    });
  }

  return {
    noteFailing: shares.noteFailing,
    rankOf: shares.rankOf,
    hasRoom: shares.hasRoom,
    shareAmong: shares.shareAmong,
    async run(host: string, key: string, signal: AbortSignal): Promise<void> {
      // A refilled queue may contain a second job for the same host.
      if (shares.laneOf(host) !== undefined) return;
      const lane = laneOf(host, key, signal);
      const end = shares.begin(host, key, lane);
      try {
        if (await inTurn(key, () => leases.take(host))) await lane.run();
      } finally {
        await inTurn(key, () => leases.letGo(host));
        end();
      }
    },
    /** @returns false if this process is not sending to the host */
    wake(host: string): boolean {
      const lane = shares.laneOf(host);
      lane?.wake();
      return lane !== undefined;
    },
    wakeAll: shares.wakeAll,
  };
}
