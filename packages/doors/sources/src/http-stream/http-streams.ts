import { pipeline, Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import { whenAborted } from '@chainstead/core';
import { createRedactor, type RateLimiter } from '@chainstead/rpc/pool';
import { basicAuthorization, isStaleConnection, toTransportError } from '@chainstead/rpc/upstream-http';
import { type Dispatcher, Pool } from 'undici';
import { SourceError } from '../source-error.ts';
import { type CreateFault, checkStatus, type HttpStream, headerOf, type StreamRequest } from './http-stream.ts';

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

/** Not in Node.js before 22.15. */
const hasZstd = 'createZstdDecompress' in zlib;

const ACCEPTED_ENCODINGS = hasZstd ? 'zstd, gzip' : 'gzip';

/** A decompression bomb. Less than `FREE_BYTES` of zeros do no harm. */
const RATIO_MAX = 200;
const FREE_BYTES = 8 * 1024 * 1024;
const MAGIC_BYTES = 4;
/** Lines have up to a megabyte. */
const CHUNK_BYTES = 256 * 1024;
const KNOWN_ENCODINGS = ['', 'identity', 'gzip', 'x-gzip', 'zstd'];

/** By the first bytes: services compress without `content-encoding`, and proxies leave it in place. */
async function* decompressed(
  raw: AsyncIterable<Buffer>,
  { encoding = '', fault }: { readonly encoding: string | undefined; readonly fault: CreateFault },
): AsyncGenerator<Buffer> {
  if (!KNOWN_ENCODINGS.includes(encoding.toLowerCase()))
    throw fault('wrong', `the response is encoded as ${encoding.slice(0, 20)}, which was not requested`);
  const input = createInput(raw);
  const decoder = decoderOf(await input.start());
  if (decoder === null) yield* input.bytes();
  else yield* decoded(decoder, input, fault);
  // Only now: everything that came before the cut is of use.
  if (input.broken !== null) throw input.broken.error;
}

interface Input {
  start(): Promise<Buffer>;
  bytes(): AsyncGenerator<Buffer>;
  readonly count: number;
  readonly broken: { readonly error: unknown } | null;
}

function createInput(raw: AsyncIterable<Buffer>): Input {
  const iterator = raw[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let count = 0;
  let broken: Input['broken'] = null;

  async function next(): Promise<Buffer | null> {
    try {
      const { done, value } = await iterator.next();
      if (done === true) return null;
      count += value.length;
      return value;
    } catch (error) {
      broken = { error };
      return null;
    }
  }

  return {
    get count() {
      return count;
    },
    get broken() {
      return broken;
    },
    async start() {
      while (head.length < MAGIC_BYTES) {
        const chunk = await next();
        if (chunk === null) break;
        head = Buffer.concat([head, chunk]);
      }
      return head;
    },
    async *bytes() {
      try {
        if (head.length > 0) yield head;
        for (let chunk = await next(); chunk !== null; chunk = await next()) yield chunk;
      } finally {
        await iterator.return?.();
      }
    },
  };
}

function decoderOf(start: Buffer): Transform | null {
  // A truncated stream ends without error: its blocks are complete up to the last line.
  if (start[0] === 0x1f && start[1] === 0x8b)
    return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH, chunkSize: CHUNK_BYTES });
  const isZstd = start.length >= MAGIC_BYTES && start.readUInt32LE(0) === 0xfd2fb528;
  return isZstd && hasZstd ? zlib.createZstdDecompress({ chunkSize: CHUNK_BYTES }) : null;
}

async function* decoded(decoder: Transform, input: Input, fault: CreateFault): AsyncGenerator<Buffer> {
  let count = 0;
  // Iterating the decoder throws the same error.
  pipeline(Readable.from(input.bytes()), decoder, () => undefined);
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      count += chunk.length;
      if (count > FREE_BYTES && count > input.count * RATIO_MAX)
        throw fault('wrong', `${input.count} compressed bytes became more than ${RATIO_MAX} times as many`);
      yield chunk;
    }
  } catch (error) {
    const { code = '' } = Object(error) as { readonly code?: string };
    if (code === 'Z_BUF_ERROR') throw fault('unavailable', 'the compressed stream ended early');
    if (code.startsWith('Z_') || code.startsWith('ZSTD_')) throw fault('wrong', `damaged compression (${code})`);
    throw error;
  }
}

/** Only time in which this side waits counts: a slow reader is no fault of the source. */
export interface StreamDeadlines {
  /** To the status and headers. */
  readonly headersMs: number;
  /** Without a byte. */
  readonly idleMs: number;
  /** Each such period of waiting must bring `windowBytesMin`: a byte per minute is no stream. */
  readonly windowMs: number;
  readonly windowBytesMin: number;
}

/** @throws SourceError by `late`, or the connection's error */
async function* timedBytes(
  body: Dispatcher.ResponseData['body'],
  { idleMs, windowMs, windowBytesMin }: StreamDeadlines,
  late: (what: string) => SourceError,
): AsyncGenerator<Buffer> {
  const iterator: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  let waitedMs = 0;
  let bytes = 0;
  try {
    for (;;) {
      const timer = setTimeout(() => body.destroy(late(`no byte within ${idleMs} ms`)), idleMs);
      const startedAt = performance.now();
      const next = await iterator.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      waitedMs += performance.now() - startedAt;
      bytes += next.value.length;
      if (waitedMs >= windowMs) {
        if (bytes < windowBytesMin) throw late(`only ${bytes} bytes in ${Math.round(waitedMs)} ms`);
        waitedMs = 0;
        bytes = 0;
      }
      yield next.value;
    }
  } finally {
    body.destroy();
  }
}
