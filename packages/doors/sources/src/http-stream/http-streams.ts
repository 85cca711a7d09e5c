import { whenAborted } from '@chainstead/core';
import { createRedactor, type RateLimiter } from '@chainstead/rpc/pool';
import { basicAuthorization, isStaleConnection, toTransportError } from '@chainstead/rpc/upstream-http';
import { type Dispatcher, Pool } from 'undici';
import { SourceError } from '../source-error.ts';
import { ACCEPTED_ENCODINGS, decompressed } from './decompressed.ts';
import type { CreateFault, HttpStream, StreamRequest } from './http-stream.ts';
import { checkStatus, headerOf } from './status-fault.ts';
import { type StreamDeadlines, timedBytes } from './timed-bytes.ts';

export interface HttpStreams {
  /** Follows no redirect. @throws SourceError, the signal's reason */
  open(request: StreamRequest, signal: AbortSignal): Promise<HttpStream>;
  readonly fault: CreateFault;
  close(): Promise<void>;
}

export interface HttpStreamsOptions {
  /** Name of the source in errors. */
  readonly source: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly limiter?: Pick<RateLimiter, 'take'> | undefined;
  readonly deadlines?: Partial<StreamDeadlines> | undefined;
}

/** Four streams of a backfill, those of requested histories and the prover, and short requests. */
const CONNECTIONS = 16;
const CONNECT_TIMEOUT_MS = 10_000;
const DEADLINES: StreamDeadlines = { headersMs: 30_000, idleMs: 60_000, windowMs: 60_000, windowBytesMin: 4_096 };

export function createHttpStreams(options: HttpStreamsOptions): HttpStreams {
  const { source, limiter } = options;
  const url = new URL(options.url);
  const redact = createRedactor({ url: options.url, headers: options.headers ?? {} });
  const deadlines = { ...DEADLINES, ...options.deadlines };
  const headers = requestHeaders(url, options.headers);
  const base = url.pathname.replace(/\/+$/, '');
  const pool = new Pool(url.origin, {
    connections: CONNECTIONS,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });

  const fault: CreateFault = (kind, what, retryAfterMs = null) =>
    new SourceError({ source, fault: kind, what: redact(what), retryAfterMs });

  const asSourceError = (error: unknown): SourceError =>
    error instanceof SourceError ? error : fault('unavailable', toTransportError(error, 0).message);

  async function send(request: Dispatcher.RequestOptions, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const aborted = Promise.withResolvers<never>();
    // A request that waits for a connection does not hear its signal.
    const forget = whenAborted(signal, () => aborted.reject(signal.reason));
    const attempt = () => Promise.race([pool.request({ ...request, signal }), aborted.promise]);
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !isStaleConnection(error)) throw error;
      return await attempt();
    } finally {
      forget();
    }
  }

  return {
    fault,
    async open({ method, path, body, accepted = [200] }, signal) {
      await limiter?.take(1, { rank: 'history', signal });
      signal.throwIfAborted();
      const controller = new AbortController();
      const forgetSignal = whenAborted(signal, () => controller.abort(signal.reason));
      const late = fault('unavailable', `no response within ${deadlines.headersMs} ms`);
      const timer = setTimeout(() => controller.abort(late), deadlines.headersMs);
      try {
        const request = { method, path: `${base}${path}${url.search}`, headers, body: body ?? null };
        const response = await send(request, controller.signal);
        clearTimeout(timer);
        const bytes = timedBytes(response.body, deadlines, (what) => fault('unavailable', what));
        const header = (name: string) => headerOf(response.headers, name);
        const stream = {
          status: response.statusCode,
          header,
          body: ended(decompressed(bytes, { encoding: header('content-encoding'), fault }), signal, forgetSignal),
        };
        if (!accepted.includes(stream.status)) await checkStatus(stream, fault);
        return stream;
      } catch (error) {
        clearTimeout(timer);
        forgetSignal();
        signal.throwIfAborted();
        throw asSourceError(error);
      }
    },
    close: () => pool.destroy(),
  };

  async function* ended(chunks: AsyncIterable<Buffer>, signal: AbortSignal, onEnd: () => void) {
    try {
      yield* chunks;
    } catch (error) {
      signal.throwIfAborted();
      throw asSourceError(error);
    } finally {
      onEnd();
    }
  }
}

function requestHeaders(url: URL, given: HttpStreamsOptions['headers']): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, application/jsonl',
    'accept-encoding': ACCEPTED_ENCODINGS,
  };
  const authorization = basicAuthorization(url);
  if (authorization !== null) headers.authorization = authorization;
  for (const [name, value] of Object.entries(given ?? {})) headers[name.toLowerCase()] = value;
  return headers;
}
