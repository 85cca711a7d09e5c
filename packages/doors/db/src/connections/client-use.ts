import { setImmediate as nextLoop } from 'node:timers/promises';
import { sleepUnlessAborted, systemClock, whenAborted } from '@chainstead/core';
import type { PoolClient } from 'pg';
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

export interface Use {
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
