import type { Clock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { readStreamSettings, type StreamSettings } from '../records/settings.ts';
import type { DeliverWebhook, PreparedDelivery, SendingFacts } from './deliver-webhook.ts';
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

interface Turn {
  readonly host: string;
  readonly lane: HostLane;
  /** Its share of the lanes has the turn. */
  readonly key: string;
  /** Begin of the turn, or the last response. */
  quietSince: number;
}

/** Milliseconds until waiting hosts get their turn. */
const TURN_MS = 20_000;
/** Milliseconds without a response after which a host no longer takes a lane from others. */
const QUIET_MS = 3_000;
/** Lanes of a key, quiet ones included, as a multiple of its share. */
const LANES_PER_SHARE = 3;
const SLOW_HOSTS_MAX = 10_000;

export function createHostLanes(options: HostLanesOptions) {
  const { database, leases, webhooks, clock, concurrency, streamsOf, queueSizeOf, isEnding } = options;
  const turns = new Map<string, Turn>();
  /** Hosts whose last webhook failed late, mostly by a timeout. */
  const slowHosts = new Set<string>();
  /** Half of the concurrency is one webhook per host; hosts share the other half. */
  const hostsMax = Math.ceil(concurrency / 2);
  const shared = concurrency - hostsMax;

  const isSlow = (host: string): boolean => slowHosts.has(host);
  const isQuiet = ({ host, quietSince }: Turn): boolean => isSlow(host) || clock.now() - quietSince >= QUIET_MS;
  const turnsOf = (key: string): Turn[] => Array.from(turns.values()).filter((turn) => turn.key === key);

  /** One share stays free: the first webhook of another key never waits for those of other keys. */
  function shareOf(whole: number, keys: Iterable<string>): number {
    const all = new Set([...keys, ...Array.from(turns.values(), ({ key }) => key)]);
    return Math.max(1, Math.floor(whole / (all.size + 1)));
  }

  /** Webhooks at once. A host that was slow gets one until it responds. */
  function allowance(host: string, underWay: number): number {
    const turn = turns.get(host);
    if (turn === undefined || isSlow(host)) return 1;
    const own = turnsOf(turn.key);
    const share = shareOf(shared, []);
    const extras = own.reduce((sum, { lane }) => sum + Math.max(0, lane.underWay - 1), 0);
    const fair = 1 + Math.floor(share / Math.max(1, own.filter((other) => !isQuiet(other)).length));
    const free = Math.max(underWay, 1) + Math.max(0, share - extras);
    return Math.max(1, Math.min(options.concurrencyPerHost, fair, free));
  }

  function noteOutcome(host: string, isLate: boolean): void {
    slowHosts.delete(host);
    if (isLate) slowHosts.add(host);
    const [oldest] = slowHosts;
    if (slowHosts.size > SLOW_HOSTS_MAX && oldest !== undefined) slowHosts.delete(oldest);
    const turn = turns.get(host);
    if (turn !== undefined) turn.quietSince = clock.now();
  }

  /** Quiet hosts take no lanes of others, but those that were slow share a part of their own. */
  function hasRoom(host: string, key: string, share: number): boolean {
    const own = turnsOf(key);
    const quiet = own.filter(isQuiet).length;
    if (isSlow(host)) return quiet < share && own.length < LANES_PER_SHARE * share;
    return own.length - quiet < share && own.length < LANES_PER_SHARE * share;
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

  function laneOf(host: string, key: string, signal: AbortSignal): HostLane {
    let isOver = false;
    const onOutcome: SendingFacts['onOutcome'] = ({ success, durationMs }) => {
      const isLate = !success && durationMs >= QUIET_MS;
      isOver ||= isLate;
      noteOutcome(host, isLate);
    };
    const isHeld = (): boolean => leases.isHeld(host);
    return createHostLane<Claimed>({
      claim: (limit) => claim(host, limit, signal),
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
      allowance: (underWay) => allowance(host, underWay),
      isEnding: () => isOver || isEnding(),
      turnMs: TURN_MS,
      clock,
    });
  }

  return {
    isSlow,
    /** @returns a key of the host whose share has room; null: the host has to wait */
    keyWithRoom(host: string, keys: readonly string[], allKeys: ReadonlySet<string>): string | null {
      const share = shareOf(hostsMax, allKeys);
      return keys.find((key) => hasRoom(host, key, share)) ?? null;
    },
    async run(host: string, key: string, signal: AbortSignal): Promise<void> {
      // A refilled queue may contain a second job for the same host.
      if (turns.has(host)) return;
      const lane = laneOf(host, key, signal);
      turns.set(host, { host, lane, key, quietSince: clock.now() });
      try {
        if (await leases.take(host)) await lane.run();
      } finally {
        await leases.letGo(host);
        turns.delete(host);
      }
    },
    /** @returns false if this process is not sending to the host */
    wake(host: string): boolean {
      const turn = turns.get(host);
      turn?.lane.wake();
      return turn !== undefined;
    },
    wakeAll(): void {
      for (const { lane } of turns.values()) lane.wake();
    },
  };
}
