import { sleepUnlessAborted, systemClock, whenAborted } from '@chainstead/core';
import type { PoolClient } from 'pg';
import { SessionClient } from './session-client.ts';

/** What gives connections: a pool, or one that is measured. */
export interface Connections {
  connect(): Promise<PoolClient>;
}

/** When work has to end, and what becomes of its connection. */
export interface End {
  readonly signal: AbortSignal;
  readonly how: 'cut' | 'cancel';
}

/** Does work on a connection of the pool until it ends, or has to. @throws what the work throws; the signal's reason once it has aborted */
export async function onClient<T>(
  connections: Connections,
  work: (client: PoolClient) => Promise<T>,
  end?: End,
): Promise<T> {
  const client = await connectUnlessEnded(connections, end);
  const use = useUntil(client, end);
  try {
    return await work(client);
  } catch (error) {
    throw end?.signal.aborted === true ? end.signal.reason : error;
  } finally {
    client.release(await use.settle());
  }
}

/** A connection is not free at once: by then nobody may want it any more. */
export async function connectUnlessEnded(connections: Connections, end?: End): Promise<PoolClient> {
  end?.signal.throwIfAborted();
  const client = await connections.connect();
  if (end?.signal.aborted !== true) return client;
  client.release();
  throw end.signal.reason;
}

export interface Use {
  break(error: unknown): void;
  /** After that the signal changes nothing any more. @returns why the connection must not be used again, or undefined */
  settle(): Promise<Error | undefined>;
}

/** Ends what is under way on the connection when the signal aborts. */
export function useUntil(client: PoolClient, end?: End): Use {
  let broken: Error | undefined;
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
  client.on('error', onBreak);
  const forgetSignal = whenAborted(end?.signal, onAbort);
  return {
    break: onBreak,
    async settle() {
      forgetSignal();
      settled.abort();
      await cancelling;
      // A connection that was cut tells of its end later.
      if (broken === undefined) client.removeListener('error', onBreak);
      return broken;
    },
  };
}

const CANCEL_AGAIN_MS = 500;

/** A request that arrives between two statements of a transaction cancels nothing: the next one has to be cancelled, too. */
async function cancelUntil(settled: AbortSignal, client: SessionClient): Promise<void> {
  while (!settled.aborted) {
    await client.cancel();
    await sleepUnlessAborted(systemClock, CANCEL_AGAIN_MS, settled);
  }
}
