import { type Clock, createTurns } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { readStreamSettings, type StreamSettings } from '../records/settings.ts';
import type { DeliverWebhook, PreparedDelivery, SendingFacts } from './deliver.ts';
import { createHostLane, type HostLane } from './host-lane.ts';
import type { HostLeases } from './host-queues.ts';
import { type AttemptOutcome, readDueDeliveries } from './outbox.ts';

interface HostLanesOptions {
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

interface HostSharesOptions {
  readonly clock: Clock;
  /** Half of it is one webhook per host; hosts share the other half. */
  readonly concurrency: number;
  readonly concurrencyPerHost: number;
}

interface Turn {
  readonly host: string;
  readonly lane: HostLane;
  /** Its share of the lanes has the turn. */
  readonly key: string;
  /** Begin of the turn, or the last outcome. */
  quietSince: number;
}

/** Milliseconds without an outcome after which a host no longer takes a lane from others. */
const QUIET_MS = 1_000;
/** Milliseconds until a failure is late. */
const LATE_MS = 3_000;
/** Lanes of a key, quiet ones included, as a multiple of its share. For hosts without a prompt outcome. */
const LANES_PER_SHARE = 10;
const HOSTS_REMEMBERED_MAX = 10_000;

/** Hosts of a key share its part of the lanes, so hosts that don't respond stop no other key. */
// Invariant: FAIR-KEYS
function createHostShares({ clock, concurrency, concurrencyPerHost }: HostSharesOptions) {
  const turns = new Map<string, Turn>();
  /** By the last webhook. Slow: it failed late, mostly by a timeout. */
  const hosts = new Map<string, 'prompt' | 'slow'>();
  const lanesMax = Math.ceil(concurrency / 2);
  const shared = concurrency - lanesMax;

  function remember(host: string, state: 'prompt' | 'slow'): void {
    hosts.delete(host);
    hosts.set(host, state);
    const [oldest] = hosts.keys();
    if (hosts.size > HOSTS_REMEMBERED_MAX && oldest !== undefined) hosts.delete(oldest);
  }

  const isSlow = (host: string): boolean => hosts.get(host) === 'slow';
  const isQuiet = ({ host, quietSince }: Turn): boolean => isSlow(host) || clock.now() - quietSince >= QUIET_MS;
  const turnsOf = (key: string): Turn[] => Array.from(turns.values()).filter((turn) => turn.key === key);

  /** One part stays free: webhooks of a further key never wait for those of others. */
  function partOf(whole: number, keys: Iterable<string>): number {
    const all = new Set([...keys, ...Array.from(turns.values(), ({ key }) => key)]);
    return Math.max(1, Math.floor(whole / (all.size + 1)));
  }

  return {
    /** Failures of before this process count until its first outcome. */
    noteFailing(failing: Iterable<string>): void {
      for (const host of failing) if (!hosts.has(host)) remember(host, 'slow');
    },
    /** Order of hosts that wait: those that respond, unknown ones, slow ones. */
    rankOf: (host: string): number => (isSlow(host) ? 2 : hosts.has(host) ? 0 : 1),
    /** @param keys of all hosts with due webhooks @returns lanes of each key */
    shareAmong: (keys: Iterable<string>): number => partOf(lanesMax, keys),
    /** Quiet hosts take no lanes of the key's other hosts. Slow ones have a separate part. */
    hasRoom(host: string, key: string, share: number): boolean {
      const own = turnsOf(key);
      const quiet = own.filter(isQuiet).length;
      if (hosts.get(host) !== 'prompt' && own.length >= LANES_PER_SHARE * share) return false;
      return (isSlow(host) ? quiet : own.length - quiet) < share;
    },
    /** Webhooks at once. A slow host gets one until it responds, an unknown one no more after a quiet second. */
    allowance(host: string, underWay: number): number {
      const turn = turns.get(host);
      if (turn === undefined || isSlow(host)) return 1;
      if (!hosts.has(host) && isQuiet(turn)) return Math.max(1, underWay);
      const own = turnsOf(turn.key);
      const part = partOf(shared, []);
      const extras = own.reduce((sum, { lane }) => sum + Math.max(0, lane.underWay - 1), 0);
      const fair = 1 + Math.floor(part / Math.max(1, own.filter((other) => !isQuiet(other)).length));
      const free = Math.max(underWay, 1) + Math.max(0, part - extras);
      return Math.max(1, Math.min(concurrencyPerHost, fair, free));
    },
    /** @returns whether the host failed late: its turn is over, and it waits behind others */
    noteOutcome(host: string, { success, durationMs }: Pick<AttemptOutcome, 'success' | 'durationMs'>): boolean {
      const isLate = !success && durationMs >= LATE_MS;
      remember(host, isLate ? 'slow' : 'prompt');
      const turn = turns.get(host);
      if (turn !== undefined) turn.quietSince = clock.now();
      return isLate;
    },
    laneOf: (host: string): HostLane | undefined => turns.get(host)?.lane,
    /** @returns ends the turn */
    begin(host: string, key: string, lane: HostLane): () => void {
      turns.set(host, { host, key, lane, quietSince: clock.now() });
      return () => turns.delete(host);
    },
    wakeAll(): void {
      for (const { lane } of turns.values()) lane.wake();
    },
  };
}
