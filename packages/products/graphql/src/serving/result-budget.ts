import { type Clock, sleepUnlessAborted, whenAborted } from '@chainstead/core';
import type { ApiContext } from '@chainstead/http';
import { createByteBudget } from '@chainstead/http/server';
import { GraphqlRefusalError } from '../refusal.ts';

/** Bounds memory from the result to the end of its request. One key may use a quarter. */
export interface ResultBudget {
  /** Holds the bytes until the request ended. @throws GraphqlRefusalError GRAPHQL_BUSY */
  respond(c: ApiContext, keyId: string, body: Uint8Array<ArrayBuffer>): Response;
  /** Waits for room for the bytes, unless the signal aborts. */
  during(keyId: string, bytes: number, signal: AbortSignal, send: () => Promise<void>): Promise<void>;
}

/** Short results of a key need no room that others may have taken. */
const KEY_BYTES_MIN = 1_048_576;
const SHARE_OF_KEY = 1 / 4;
const WAIT_MS = 100;

export function createResultBudget(bytesMax: number, clock: Clock): ResultBudget {
  const budget = createByteBudget(bytesMax, SHARE_OF_KEY, KEY_BYTES_MIN);
  return {
    respond(c, keyId, body) {
      if (!budget.take(keyId, body.length))
        throw new GraphqlRefusalError(
          'GRAPHQL_BUSY',
          'Results of earlier operations are still being sent',
          'Read them first, or retry in a second.',
        );
      whenAborted(c.get('ended'), () => budget.give(keyId, body.length));
      return c.body(body, 200, { 'content-type': 'application/json' });
    },
    async during(keyId, bytes, signal, send) {
      while (!budget.take(keyId, bytes)) {
        if (signal.aborted) return;
        await sleepUnlessAborted(clock, WAIT_MS, signal);
      }
      try {
        await send();
      } finally {
        budget.give(keyId, bytes);
      }
    },
  };
}
