import type { ServerResponse } from 'node:http';
import { type Clock, type Logger, sleepUnlessAborted, whenAborted } from '@chainstead/core';
import type { ApiContext } from '@chainstead/http';
import { createByteBudget, outgoingOf } from '@chainstead/http/server';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { GraphqlRefusalError, shownRefusal } from '../refusal.ts';
import type { ThreadExchange } from '../thread/executor.ts';

interface StreamOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly budget: ResultBudget;
  readonly closing: AbortSignal;
}

type StreamResults = (c: ApiContext, exchange: ThreadExchange) => Response;

const STREAMS_MAX = 100;
const KEY_STREAMS_MAX = 20;
/** Each key has them, even if other keys have all streams. */
const KEY_STREAMS_MIN = 4;
const BEAT_MS = 15_000;
/** Milliseconds. Reconnecting checks that the key is still valid. */
const STREAM_MS = 3_600_000;

export function createStreamResults({ clock, logger, budget, closing }: StreamOptions): StreamResults {
  const open = new Map<string, number>();

  return (c, exchange) => {
    const key = c.get('principal')?.id ?? '';
    const own = open.get(key) ?? 0;
    const all = [...open.values()].reduce((sum, streams) => sum + streams, 0);
    if (own >= KEY_STREAMS_MAX || (all >= STREAMS_MAX && own >= KEY_STREAMS_MIN)) throw tooManyStreams(own, all);
    open.set(key, own + 1);
    const send = async (stream: SSEStreamingApi): Promise<void> => {
      const left = new AbortController();
      stream.onAbort(() => left.abort());
      const forget = whenAborted(c.get('ended'), () => stream.abort());
      const signal = AbortSignal.any([left.signal, closing, AbortSignal.timeout(STREAM_MS)]);
      const keptOpen = whenAborted(signal, () => exchange.close());
      const beats = sendBeats(stream, clock, signal);
      try {
        for (let reply = await exchange.next(); reply.type === 'event'; reply = await exchange.next()) {
          const { body } = reply;
          await budget.during(key, body.length, signal, async () => {
            await stream.write('event: next\ndata: ');
            await stream.write(body);
            await stream.write('\n\n');
          });
        }
      } catch (error) {
        if (!(error instanceof GraphqlRefusalError)) throw error;
        await stream.writeSSE({ event: 'next', data: JSON.stringify({ errors: [shownRefusal(error)] }) });
      } finally {
        keptOpen();
        exchange.close();
        left.abort();
        const rest = (open.get(key) ?? 1) - 1;
        if (rest === 0) open.delete(key);
        else open.set(key, rest);
        await beats;
        await stream.writeSSE({ event: 'complete', data: '' });
        forget();
      }
    };
    const response = streamSSE(c, send, async (error) => {
      logger.error({ err: error }, 'GraphQL stream ended');
    });
    // Prevents buffering by proxies, and compression.
    response.headers.set('cache-control', 'no-store, no-transform');
    response.headers.set('x-accel-buffering', 'no');
    return response;
  };
}

async function sendBeats(stream: SSEStreamingApi, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleepUnlessAborted(clock, BEAT_MS, signal);
    if (!signal.aborted) await stream.write(':\n\n');
  }
}

function tooManyStreams(own: number, all: number): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_BUSY',
    `This key has ${own} open subscriptions, and this server ${all}`,
    'Close some of them, or retry later.',
  );
}

/** Bounds memory from the result to the end of its request. One key may use a quarter. */
interface ResultBudget {
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
