import { type Clock, type Logger, sleepUnlessAborted, whenAborted } from '@chainstead/core';
import type { ApiContext } from '@chainstead/http';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { GraphqlRefusalError, shownRefusal } from '../refusal.ts';
import type { ThreadExchange } from '../thread/executor.ts';
import type { ResultBudget } from './result-budget.ts';

export interface StreamOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly budget: ResultBudget;
  readonly closing: AbortSignal;
}

export type StreamResults = (c: ApiContext, exchange: ThreadExchange) => Response;

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
