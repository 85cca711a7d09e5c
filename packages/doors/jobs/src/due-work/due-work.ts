/** Claims after a notification, when work ends, when a row becomes due, and at every sweep. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type Clock,
  errorText,
  type Logger,
  type Registry,
  settlesWithin,
  sleepUnlessAborted,
} from '@chainstead/core';
import { type Database, failureLevel, listenTo, outageOr, UNWRITTEN, type WorkJournal } from '@chainstead/db';
import { type ClaimLoop, createClaimLoop, type DueKind } from './claim-loop.ts';
import { dueChannel } from './due-channel.ts';

export interface DueWorkOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** For work that might crash the process. @default none */
  readonly journal?: Pick<WorkJournal, 'run' | 'suspects'>;
  /** Longest time between two sweeps without work. @default 30,000 */
  readonly sweepEveryMs?: number;
  /** Then other processes claim the rows of a dead one. @default 30,000 */
  readonly leaseMs?: number;
}

export interface DueWork {
  /** Call it before {@link start}. */
  add<Row extends object>(kind: DueKind<Row>): void;
  start(): void;
  /** Waits for work; after `timeoutMs` (default 30,000) it aborts and releases that work, within `graceMs`. */
  close(timeoutMs?: number, graceMs?: number): Promise<void>;
}

const SWEEP_EVERY_MS = 30_000;
const SWEEPS_PER_TIDY = 2;
const LEASE_MS = 30_000;
const CLOSE_TIMEOUT_MS = 30_000;
const ABORT_GRACE_MS = 2_000;

export function createDueWork(options: DueWorkOptions): DueWork {
  const {
    database,
    clock,
    logger,
    metrics,
    sweepEveryMs = SWEEP_EVERY_MS,
    leaseMs = LEASE_MS,
    journal = UNWRITTEN,
  } = options;
  const process = `${hostname()} ${globalThis.process.pid} ${randomUUID().slice(0, 8)}`;
  const stopping = new AbortController();
  const abandoned = new AbortController();
  /** Aborted work keeps its leases until it has ended. */
  const renewing = new AbortController();
  const loops = new Map<string, ClaimLoop>();
  const tidies: (() => Promise<void> | undefined)[] = [];
  let tasks: Promise<unknown>[] = [];
  let claims = 0;
  const nameClaim = (): string => `${process} ${++claims}`;
  const ofLoop = {
    ...{ database, clock, journal, logger, leaseMs, metrics, sweepEveryMs, nameClaim },
    stopping: stopping.signal,
    ending: abandoned.signal,
  };

  async function tidyPeriodically(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await Promise.all(tidies.map((tidy) => tidy()));
      } catch (error) {
        logger[failureLevel(outageOr(error))]({ task: 'tidy', err: error }, 'A task of due work failed');
      }
      await sleepUnlessAborted(clock, SWEEPS_PER_TIDY * sweepEveryMs, stopping.signal);
    }
  }

  return {
    add(kind) {
      loops.set(dueChannel(kind.name, kind.chain.id), createClaimLoop(kind, ofLoop));
      tidies.push(() => kind.tidy?.());
    },
    start() {
      const listening = { database, clock, logger, channels: [...loops.keys()] };
      const onNotification = (channel: string): void => loops.get(channel)?.wake();
      tasks = [
        listenTo({ ...listening, onNotification }, stopping.signal),
        ...[...loops.values()].map((loop) => loop.sweep()),
        tidyPeriodically(),
        ...[...loops.values()].map((loop) => loop.renew(renewing.signal)),
      ];
    },
    async close(timeoutMs = CLOSE_TIMEOUT_MS, graceMs = ABORT_GRACE_MS) {
      stopping.abort();
      const ended = Promise.all([...loops.values()].map((loop) => loop.idle()));
      if (!(await settlesWithin(ended, timeoutMs))) {
        abandoned.abort(new Error('The process ends and waits for its work no longer'));
        if (!(await settlesWithin(ended, graceMs)))
          logger.error('Work that was claimed does not end: others claim it once its leases have expired');
      }
      abandoned.abort();
      renewing.abort();
      await Promise.all(tasks);
    },
  };
}

interface SettledWatchOptions<Requested, Settlement> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Those that are settled. */
  read(requested: readonly Requested[]): Promise<ReadonlyMap<Requested, Settlement>>;
}

const POLL_MS = 30;

/** Reads the rows of all waiting requests together. A failed read fails none: they wait on. */
export function createSettledWatch<Requested extends object, Settlement>({
  clock,
  logger,
  read,
}: SettledWatchOptions<Requested, Settlement>) {
  const waiting = new Map<Requested, (settlement: Settlement) => void>();
  let isLooking = false;

  async function look(): Promise<void> {
    isLooking = true;
    try {
      while (waiting.size > 0) {
        await clock.sleep(POLL_MS);
        for (const [requested, settlement] of await read([...waiting.keys()]))
          waiting.get(requested)?.(settlement);
      }
    } catch (error) {
      logger[failureLevel(error)](
        { error: errorText(error) },
        'Rows that requests wait for could not be looked at',
      );
    } finally {
      isLooking = false;
    }
  }

  /** Null if it is not settled within `ms`. */
  return async (requested: Requested, ms: number): Promise<Settlement | null> => {
    if (ms <= 0) return null;
    const settled = Promise.withResolvers<Settlement>();
    const ended = new AbortController();
    waiting.set(requested, settled.resolve);
    if (!isLooking) void look();
    try {
      const late = sleepUnlessAborted(clock, ms, ended.signal).then(() => null);
      return await Promise.race([settled.promise, late]);
    } finally {
      ended.abort();
      waiting.delete(requested);
    }
  };
}
