import { setImmediate as nextLoop } from 'node:timers/promises';
import { sleepUnlessAborted, systemClock, whenAborted } from '@chainstead/core';
import type { PoolClient } from 'pg';
import { SessionClient } from './session-client.ts';

/** A pool or a measured one. */
export interface Connections {
  connect(): Promise<PoolClient>;
}

/** For each piece that the server sends. An error cuts the connection and fails the work. */
export type CountBytes = (bytes: number) => void;

/** Signal that ends work, by cutting the connection or canceling its statement. */
export interface End {
  readonly signal: AbortSignal;
  readonly how: 'cut' | 'cancel';
  /** Called when work begins. Absent: work may receive any number of bytes. */
  readonly counting?: (() => CountBytes) | undefined;
}

/** Runs work on a connection until it ends or the signal aborts. @throws the error of the work, or the signal's reason */
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
    // One large result per turn of the event loop: its JSON takes a tenth of a second, small requests go in between.
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

/** Connecting may take time: the signal may have aborted meanwhile. */
export async function connectUnlessEnded(connections: Connections, end?: End): Promise<PoolClient> {
  end?.signal.throwIfAborted();
  const client = await connections.connect();
  if (end?.signal.aborted !== true) return client;
  client.release();
  throw end.signal.reason;
}

export interface Use {
  break(error: unknown): void;
  /** Bytes counted so far. */
  received(): number;
  /** @throws the error of {@link CountBytes}, if it threw one */
  throwIfRefused(): void;
  /** For work that failed: the signal's reason, the error of {@link CountBytes}, or the given one. */
  reasonOf(error: unknown): unknown;
  /** Detaches the signal. @returns the reason if the connection must not be used again, otherwise undefined */
  settle(): Promise<Error | undefined>;
}

/** Ends running statements when the signal aborts, or when they send too many bytes. */
export function useUntil(client: PoolClient, end?: End): Use {
  let broken: Error | undefined;
  let refused: { readonly error: unknown } | undefined;
  let cancelling: Promise<void> | undefined;
  const settled = new AbortController();
  const onBreak = (error: unknown): void => {
    broken ??= error instanceof Error ? error : new Error(String(error));
  };
  const cut = (reason: unknown): void => {
    onBreak(reason);
    if (client instanceof SessionClient) client.destroy();
  };
  const onAbort = (): void => {
    if (end?.how === 'cancel' && client instanceof SessionClient)
      cancelling = cancelUntil(settled.signal, client).catch(cut);
    else cut(end?.signal.reason);
  };
  // A server that is sending a large row reads no request to cancel.
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
      settled.abort();
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

/** A request between two statements of a transaction has no effect: the next statement is canceled too. */
async function cancelUntil(settled: AbortSignal, client: SessionClient): Promise<void> {
  while (!settled.aborted) {
    await client.cancel();
    await sleepUnlessAborted(systemClock, CANCEL_AGAIN_MS, settled);
  }
}
