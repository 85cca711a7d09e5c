import { type Clock, sleepUnlessAborted } from '@chainstead/core';
import type { ApiContext } from '@chainstead/http';
import { createByteBudget } from '@chainstead/http/server';
import { GraphqlRefusalError } from '../refusal.ts';

/** Bounds memory from the result to the end of its sending. One key may use a quarter. */
export interface ResultBudget {
  /** Holds its bytes until they are sent. @throws GraphqlRefusalError GRAPHQL_BUSY */
  respond(c: ApiContext, keyId: string, body: Uint8Array<ArrayBuffer>): Response;
  /** Waits for room for the bytes, unless the signal aborts. */
  during(keyId: string, bytes: number, signal: AbortSignal, send: () => Promise<void>): Promise<void>;
}

const SMALL_BYTES = 65_536;
const CHUNK_BYTES = 65_536;
const WAIT_MS = 100;

export function createResultBudget(bytesMax: number, clock: Clock): ResultBudget {
  const budget = createByteBudget(bytesMax);
  return {
    respond(c, keyId, body) {
      const headers = { 'content-type': 'application/json' };
      if (body.length <= SMALL_BYTES) return c.body(body, 200, headers);
      if (!budget.take(keyId, body.length))
        throw new GraphqlRefusalError(
          'GRAPHQL_BUSY',
          'Results of earlier operations are still being sent',
          'Read them first, or retry in a second.',
        );
      return c.body(
        streamOf(body, () => budget.give(keyId, body.length)),
        200,
        headers,
      );
    },
    async during(keyId, bytes, signal, send) {
      if (bytes <= SMALL_BYTES) return send();
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

function streamOf(body: Uint8Array<ArrayBuffer>, onEnd: () => void): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream(
    {
      pull(controller) {
        if (sent >= body.length) {
          onEnd();
          controller.close();
          return;
        }
        controller.enqueue(body.subarray(sent, sent + CHUNK_BYTES));
        sent += CHUNK_BYTES;
      },
      cancel: onEnd,
    },
    { highWaterMark: 0 },
  );
}
