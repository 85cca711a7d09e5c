import { type Clock, type Logger, sleepUnlessAborted } from '@chainstead/core';
import type { ApiContext } from '@chainstead/http';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { type GraphqlResult, shownError } from '../operations/run-query.ts';
import { GraphqlRefusalError } from '../refusal.ts';

export interface StreamOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends all streams. */
  readonly closing: AbortSignal;
}

/** Sends results as server-sent events, in the form of the protocol GraphQL over SSE. */
export type StreamResults = (c: ApiContext, open: (signal: AbortSignal) => AsyncIterable<GraphqlResult>) => Response;

/** Streams per process. */
const STREAMS_MAX = 100;
/** Streams per key. */
const KEY_STREAMS_MAX = 20;
/** Interval of comments that keep a connection open. Milliseconds. */
const BEAT_MS = 15_000;
/** Then the client has to connect again, with a key that is still valid. Milliseconds. */
const STREAM_MS = 3_600_000;

export function createStreamResults({ clock, logger, closing }: StreamOptions): StreamResults {
  const open = new Map<string, number>();

  return (c, read) => {
    const key = c.get('principal')?.id ?? '';
    const own = open.get(key) ?? 0;
    const all = [...open.values()].reduce((sum, streams) => sum + streams, 0);
    if (own >= KEY_STREAMS_MAX || all >= STREAMS_MAX) throw tooManyStreams(own, all);
    open.set(key, own + 1);
    const send = async (stream: SSEStreamingApi): Promise<void> => {
      const left = new AbortController();
      stream.onAbort(() => left.abort());
      const signal = AbortSignal.any([left.signal, closing, AbortSignal.timeout(STREAM_MS)]);
      const beats = sendBeats(stream, clock, signal);
      try {
        for await (const result of read(signal)) await stream.writeSSE({ event: 'next', data: JSON.stringify(result) });
      } catch (error) {
        await stream.writeSSE({ event: 'next', data: JSON.stringify({ errors: [shownError(error, logger)] }) });
      } finally {
        left.abort();
        await beats;
        await stream.writeSSE({ event: 'complete', data: '' });
        closeOne(open, key);
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

function closeOne(open: Map<string, number>, key: string): void {
  const left = (open.get(key) ?? 1) - 1;
  if (left === 0) open.delete(key);
  else open.set(key, left);
}

function tooManyStreams(own: number, all: number): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_BUSY',
    `This key has ${own} open subscriptions, and this server ${all}`,
    'Close some of them, or retry later.',
  );
}
