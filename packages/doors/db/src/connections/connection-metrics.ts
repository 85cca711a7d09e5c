import { setImmediate as nextLoop } from 'node:timers/promises';
import {
  defineMetrics,
  gauge,
  histogram,
  type Registry,
  sleepUnlessAborted,
  systemClock,
  whenAborted,
} from '@chainstead/core';
import type { Pool, PoolClient } from 'pg';
import { SessionClient } from './session-client.ts';

export interface Connections {
  connect(): Promise<PoolClient>;
}

/** For each piece from the server. An error cuts the connection and fails the work. */
export type CountBytes = (bytes: number) => void;

export interface End {
  readonly signal: AbortSignal;
  readonly how: 'cut' | 'cancel';
  /** Called as work begins. Absent: any number of bytes. */
  readonly counting?: (() => CountBytes) | undefined;
}

export async function onClient<T>(
  connections: Connections,
  work: (client: PoolClient) => Promise<T>,
  end?: End,
): Promise<T> {
  const client = await connectUnlessEnded(connections, end);
  const use = useUntil(client, end);
  try {
    const result = await work(client);
    use.throwIfRefused();
    // One large result per turn of the event loop: small requests go in between.
    if (use.received() > LARGE_RESULT_BYTES) {
      lastTurn = lastTurn.then(() => nextLoop());
      await lastTurn;
    }
    return result;
  } catch (error) {
    throw use.reasonOf(error);
  } finally {
    client.release(await use.settle());
  }
}

const LARGE_RESULT_BYTES = 512 * 1024;
let lastTurn: Promise<unknown> = Promise.resolve();

export async function connectUnlessEnded(connections: Connections, end?: End): Promise<PoolClient> {
  end?.signal.throwIfAborted();
  const client = await connections.connect();
  if (end?.signal.aborted !== true) return client;
  client.release();
  throw end.signal.reason;
}

interface Use {
  break(error: unknown): void;
  received(): number;
  /** @throws the error of {@link CountBytes} */
  throwIfRefused(): void;
  reasonOf(error: unknown): unknown;
  /** Detaches the signal. @returns why the connection must not be used again */
  settle(): Promise<Error | undefined>;
}

export function useUntil(client: PoolClient, end?: End): Use {
  let broken: Error | undefined;
  let refused: { readonly error: unknown } | undefined;
  let cancelling: Promise<void> | undefined;
  let stopCancelling = (): void => {};
  const onBreak = (error: unknown): void => {
    broken ??= error instanceof Error ? error : new Error(String(error));
  };
  const cut = (reason: unknown): void => {
    onBreak(reason);
    if (client instanceof SessionClient) client.destroy();
  };
  const onAbort = (): void => {
    if (end?.how === 'cancel' && client instanceof SessionClient) {
      const settled = new AbortController();
      stopCancelling = () => settled.abort();
      cancelling = cancelUntil(settled.signal, client).catch(cut);
    } else cut(end?.signal.reason);
  };
  // A server sending a large row reads no cancel request.
  const refuse = (error: unknown): void => {
    refused ??= { error };
    cut(error);
  };
  client.on('error', onBreak);
  let received = 0;
  const count = end?.counting?.();
  const countAll = (bytes: number): void => {
    received += bytes;
    count?.(bytes);
  };
  const stopCounting = countReceived(client, count === undefined ? undefined : countAll, refuse);
  const forgetSignal = whenAborted(end?.signal, onAbort);
  return {
    break: onBreak,
    received: () => received,
    throwIfRefused() {
      if (refused !== undefined) throw refused.error;
    },
    reasonOf: (error) =>
      end?.signal.aborted === true ? end.signal.reason : refused === undefined ? error : refused.error,
    async settle() {
      forgetSignal();
      stopCounting();
      stopCancelling();
      await cancelling;
      // A cut connection emits its error later.
      if (broken === undefined) client.removeListener('error', onBreak);
      return broken;
    },
  };
}

function countReceived(
  client: PoolClient,
  count: CountBytes | undefined,
  refuse: (error: unknown) => void,
): () => void {
  if (count === undefined || !(client instanceof SessionClient)) return () => {};
  return client.onReceived((bytes) => {
    try {
      count(bytes);
    } catch (error) {
      refuse(error);
    }
  });
}

const CANCEL_AGAIN_MS = 500;

/** A cancel request between two statements has no effect, so it is repeated. */
async function cancelUntil(settled: AbortSignal, client: SessionClient): Promise<void> {
  while (!settled.aborted) {
    await client.cancel();
    await sleepUnlessAborted(systemClock, CANCEL_AGAIN_MS, settled);
  }
}

export const createConnectionMetrics = defineMetrics('chainstead_database', {
  connections: gauge(
    'Number of open Postgres connections of the process, by pool (main, jobs) and state (in_use, idle)',
    ['pool', 'state'],
  ),
  connectionsMax: gauge('Maximum number of connections in the pool', ['pool']),
  waiting: gauge('Number of queries and transactions waiting for a connection from the pool', ['pool']),
});

export function measurePool(registry: Registry, name: string, pool: Pool): void {
  const { connections, connectionsMax, waiting } = createConnectionMetrics(registry);
  connections.addSource({ pool: name, state: 'in_use' }, () => pool.totalCount - pool.idleCount);
  connections.addSource({ pool: name, state: 'idle' }, () => pool.idleCount);
  connectionsMax.addSource({ pool: name }, () => pool.options.max);
  waiting.addSource({ pool: name }, () => pool.waitingCount);
}

export const createDatabaseMetrics = defineMetrics('chainstead_database', {
  waitSeconds: histogram(
    'Time from requesting a pool connection to receiving it, including the time to open a new one',
    [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    ['pool'],
  ),
  up: gauge('0 if the database is unavailable to the process (unreachable, full or read-only), otherwise 1'),
});

export function measuredConnections(registry: Registry, name: string, pool: Pool): Connections {
  measurePool(registry, name, pool);
  const wait = createDatabaseMetrics(registry).waitSeconds.labels({ pool: name });
  return {
    async connect() {
      const startedAt = performance.now();
      try {
        return await pool.connect();
      } finally {
        wait.observe((performance.now() - startedAt) / 1_000);
      }
    },
  };
}

export function measureOutages(registry: Registry, isAway: () => boolean): void {
  createDatabaseMetrics(registry).up.addSource({}, () => (isAway() ? 0 : 1));
}
