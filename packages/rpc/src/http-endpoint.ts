import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { ChainsteadError, errorText } from '@chainstead/core';
import { type Dispatcher, Pool } from 'undici';
import { parseRetryAfter } from './back-off.ts';
import type { FaultKind, UpstreamConfig } from './upstream-pool.ts';

/** An HTTP answer whose body was JSON; on error statuses the body may be anything. */
export interface HttpAnswer {
  readonly status: number;
  /** The parsed body; undefined where it was not JSON, which only error statuses may have. */
  readonly json: unknown;
  /** Start of the body, for error texts. */
  readonly text: string;
  readonly bytes: number;
  readonly retryAfterMs?: number;
}

/** Why no usable HTTP answer came. */
export class TransportError extends ChainsteadError {
  readonly kind: FaultKind | 'aborted' | 'too-large';

  constructor(kind: FaultKind | 'aborted' | 'too-large', message: string, cause?: unknown) {
    super({ code: 'TRANSPORT', message, facts: { kind }, retryable: true, cause });
    this.kind = kind;
  }
}

/** Posts JSON to one URL over kept-alive connections. */
export interface HttpEndpoint {
  /** @throws TransportError */
  post(payload: string, options: { timeoutMs: number; signal?: AbortSignal | undefined }): Promise<HttpAnswer>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;
const gunzipBytes = promisify(gunzip);
const inflateBytes = promisify(inflate);
const brotliBytes = promisify(brotliDecompress);

/** One undici pool, with size and time limits on each answer. */
export function createHttpEndpoint(options: {
  readonly config: UpstreamConfig;
  readonly concurrency: number;
  readonly responseBytesMax: number;
}): HttpEndpoint {
  const url = new URL(options.config.url);
  const pool = new Pool(url.origin, {
    connections: options.concurrency,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    maxResponseSize: options.responseBytesMax,
  });
  const headers = requestHeaders(url, options.config);
  // Compression pays on a network, not on the same machine.
  if (!['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)) headers['accept-encoding'] ??= 'gzip, br';
  const path = `${url.pathname}${url.search}`;

  async function exchange(payload: string, signal: AbortSignal): Promise<HttpAnswer> {
    let response: Dispatcher.ResponseData;
    try {
      response = await pool.request({ path, method: 'POST', headers, body: payload, signal });
    } catch (error) {
      // A kept-alive connection that the server closed at the same moment: JSON-RPC calls may be sent again.
      if (signal.aborted || !isStaleConnection(error)) throw error;
      response = await pool.request({ path, method: 'POST', headers, body: payload, signal });
    }
    const raw = Buffer.from(await response.body.arrayBuffer());
    const body = await decompress(raw, response.headers['content-encoding'], options.responseBytesMax);
    return toAnswer(response, body);
  }

  return {
    async post(payload, { timeoutMs, signal }) {
      const controller = new AbortController();
      let timedOut = false;
      const timer = setTimeout(() => {
        timedOut = true;
        controller.abort();
      }, timeoutMs);
      const onAbort = (): void => controller.abort();
      if (signal?.aborted) controller.abort();
      signal?.addEventListener('abort', onAbort, { once: true });
      try {
        return await exchange(payload, controller.signal);
      } catch (error) {
        if (timedOut) throw new TransportError('timeout', `no answer within ${timeoutMs} ms`, error);
        if (signal?.aborted) throw new TransportError('aborted', 'given up', error);
        throw toTransportError(error, options.responseBytesMax);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      }
    },
    close: () => pool.destroy(),
  };
}

/** Headers of every request to an upstream. */
export function requestHeaders(url: URL, config: UpstreamConfig): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  if (url.username !== '' || url.password !== '') {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  for (const [name, value] of Object.entries(config.headers ?? {})) headers[name.toLowerCase()] = value;
  return headers;
}

/** The answer that a whole body is. @throws TransportError where it should be JSON and is not */
export function toAnswer(response: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>, body: Buffer): HttpAnswer {
  const text = body.toString('utf8');
  const json = parseJson(text);
  const isError = response.statusCode < 200 || response.statusCode > 299;
  if (json === undefined && !isError) {
    const cut = /^\s*[[{]/.test(text);
    throw new TransportError(
      cut ? 'truncated' : 'not-json',
      `the body is ${cut ? 'cut-off' : 'not'} JSON: ${JSON.stringify(text.slice(0, 80))}`,
    );
  }
  const header = response.headers['retry-after'];
  const retryAfterMs = parseRetryAfter(Array.isArray(header) ? header[0] : header, Date.now());
  return {
    status: response.statusCode,
    json,
    text: isError ? text.slice(0, 500) : '',
    bytes: body.length,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** `undefined` is no JSON value, so it can stand for "not JSON". */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function decompress(
  body: Buffer,
  encoding: string | string[] | undefined,
  maxOutputLength: number,
): Promise<Buffer> {
  if (encoding === 'gzip') return gunzipBytes(body, { maxOutputLength });
  if (encoding === 'br') return brotliBytes(body, { maxOutputLength });
  if (encoding === 'deflate') return inflateBytes(body, { maxOutputLength });
  return body;
}

function errorCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** A kept-alive connection that the server closed at the same moment as a request was sent. */
export function isStaleConnection(error: unknown): boolean {
  return errorCode(error) === 'UND_ERR_SOCKET' || errorCode(error) === 'ECONNRESET';
}

/** What an error of undici or of a decompressor means. */
export function toTransportError(error: unknown, responseBytesMax: number): TransportError {
  if (error instanceof TransportError) return error;
  const code = errorCode(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || code === 'ERR_BUFFER_TOO_LARGE')
    return new TransportError('too-large', `the answer exceeds ${responseBytesMax} bytes`, error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new TransportError('timeout', errorText(error), error);
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT'))
    return new TransportError('truncated', `the compressed body is damaged: ${errorText(error)}`, error);
  return new TransportError('connection', errorText(error) || code || 'connection failed', error);
}
