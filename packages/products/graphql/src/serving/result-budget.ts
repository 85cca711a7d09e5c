import type { ServerResponse } from 'node:http';
import { type Clock, sleepUnlessAborted, whenAborted } from '@chainstead/core';
import type { ApiContext } from '@chainstead/http';
import { createByteBudget, outgoingOf } from '@chainstead/http/server';
import { GraphqlRefusalError } from '../refusal.ts';

/** Bounds memory from the result to the end of its request. One key may use a quarter. */
export interface ResultBudget {
  /** Holds the bytes until the request ended. May wait for those of other keys. @throws GraphqlRefusalError GRAPHQL_BUSY */
  respond(c: ApiContext, keyId: string, body: Uint8Array<ArrayBuffer>): Promise<Response>;
  /** Waits for room for the bytes, unless the signal aborts. */
  during(keyId: string, bytes: number, signal: AbortSignal, send: () => Promise<void>): Promise<void>;
}

/** Short results of a key need no room that others may have taken. */
const KEY_BYTES_MIN = 1_048_576;
const SHARE_OF_KEY = 1 / 4;
const WAIT_MS = 100;
/** Milliseconds. A larger result that its client doesn't read for as long is abandoned: others need its room. */
const UNREAD_MS = 10_000;
/** Milliseconds until it must be read: clients may read a byte at a time. */
const READ_MS = 120_000;

export function createResultBudget(bytesMax: number, clock: Clock, unreadMs: number = UNREAD_MS): ResultBudget {
  const budget = createByteBudget(bytesMax, SHARE_OF_KEY, KEY_BYTES_MIN);
  let isAnyWaiting = false;

  /** One result at a time waits in memory until unread ones of other keys are abandoned. */
  async function takeSoon(keyId: string, bytes: number, ended: AbortSignal): Promise<boolean> {
    const isFull = budget.used + bytes > bytesMax;
    if (!isFull || isAnyWaiting) return false;
    isAnyWaiting = true;
    const until = clock.now() + 2 * unreadMs;
    let isTaken = false;
    while (!isTaken && !ended.aborted && clock.now() < until) {
      await sleepUnlessAborted(clock, WAIT_MS, ended);
      isTaken = budget.take(keyId, bytes);
    }
    isAnyWaiting = false;
    return isTaken;
  }

  return {
    // Invariant: FAIR-KEYS
    async respond(c, keyId, body) {
      const ended = c.get('ended');
      if (!budget.take(keyId, body.length) && !(await takeSoon(keyId, body.length, ended)))
        throw new GraphqlRefusalError(
          'GRAPHQL_BUSY',
          'Results of earlier operations are still being sent',
          'Read them first, or retry in a second.',
        );
      whenAborted(ended, () => budget.give(keyId, body.length));
      const outgoing = outgoingOf(c);
      if (outgoing !== undefined && body.length > KEY_BYTES_MIN) endUnlessRead(outgoing, ended, unreadMs);
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

function endUnlessRead(outgoing: ServerResponse, ended: AbortSignal, unreadMs: number): void {
  outgoing.setTimeout(unreadMs, () => {
    // Nothing is queued while the result is being compressed.
    if (outgoing.socket !== null && outgoing.socket.writableLength > 0) outgoing.destroy();
  });
  const late = setTimeout(() => outgoing.destroy(), READ_MS).unref();
  whenAborted(ended, () => clearTimeout(late));
}
