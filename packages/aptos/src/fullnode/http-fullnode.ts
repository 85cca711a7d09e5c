import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { errorText } from '@chainstead/core';
import { type Dispatcher, Pool } from 'undici';
import { FullnodeFault } from './errors.ts';
import type { AnswerHeaders } from './ledger-info.ts';

/** What came back, whatever its status. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

/** One fullnode's REST API over kept-alive connections. */
export interface HttpFullnode {
  /** @param path behind `/v1`. @throws FullnodeFault connection, timeout, truncated, too-large */
  get(path: string, signal: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface HttpFullnodeOptions {
  /** With or without `/v1` at its end. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey: string | null;
  readonly connections: number;
  readonly answerBytesMax: number;
  readonly timeoutMs: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];
const gunzipBytes = promisify(gunzip);
const brotliBytes = promisify(brotliDecompress);

/** One undici pool, with limits of size and time on each answer. */
export function createHttpFullnode(options: HttpFullnodeOptions): HttpFullnode {
  const { answerBytesMax, timeoutMs } = options;
  const url = new URL(options.url);
  const base = `${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`;
  const headers = requestHeaders(url, options.apiKey);
  const pool = new Pool(url.origin, {
    connections: options.connections,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    maxResponseSize: answerBytesMax,
  });

  async function exchange(path: string, signal: AbortSignal): Promise<HttpAnswer> {
    const query = url.search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${url.search.slice(1)}`;
    const request: Dispatcher.RequestOptions = { path: `${base}${query}`, method: 'GET', headers, signal };
    let response: Dispatcher.ResponseData;
    try {
      response = await pool.request(request);
    } catch (error) {
      // A kept-alive connection that the server closed at the same moment.
      if (signal.aborted || !isStaleConnection(error)) throw error;
      response = await pool.request(request);
    }
    const raw = Buffer.from(await response.body.arrayBuffer());
    const body = await decompress(raw, response.headers['content-encoding'], answerBytesMax);
    return { status: response.statusCode, headers: response.headers, body };
  }

  return {
    async get(path, signal) {
      const controller = new AbortController();
      let timedOut = false;
      const timer = setTimeout(() => {
        timedOut = true;
        controller.abort();
      }, timeoutMs);
      const onAbort = (): void => controller.abort();
      if (signal.aborted) controller.abort();
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return await exchange(path, controller.signal);
      } catch (error) {
        signal.throwIfAborted();
        if (timedOut) throw new FullnodeFault('timeout', `no answer within ${timeoutMs} ms`, { cause: error });
        throw toFault(error, answerBytesMax);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      }
    },
    close: () => pool.destroy(),
  };
}

function requestHeaders(url: URL, apiKey: string | null): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' };
  // Compression pays on a network, not on the same machine.
  if (!LOCAL_HOSTS.includes(url.hostname)) headers['accept-encoding'] = 'gzip, br';
  if (apiKey !== null) headers.authorization = `Bearer ${apiKey}`;
  else if (url.username !== '' || url.password !== '') {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  return headers;
}

async function decompress(
  body: Buffer,
  encoding: string | string[] | undefined,
  maxOutputLength: number,
): Promise<Buffer> {
  if (encoding === 'gzip') return gunzipBytes(body, { maxOutputLength });
  if (encoding === 'br') return brotliBytes(body, { maxOutputLength });
  return body;
}

function errorCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

function isStaleConnection(error: unknown): boolean {
  return errorCode(error) === 'UND_ERR_SOCKET' || errorCode(error) === 'ECONNRESET';
}

function toFault(error: unknown, answerBytesMax: number): FullnodeFault {
  const code = errorCode(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || code === 'ERR_BUFFER_TOO_LARGE')
    return new FullnodeFault('too-large', `the answer exceeds ${answerBytesMax} bytes`, { cause: error });
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new FullnodeFault('timeout', errorText(error), { cause: error });
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT') || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return new FullnodeFault('truncated', `the body is damaged: ${errorText(error)}`, { cause: error });
  return new FullnodeFault('connection', errorText(error) || code || 'connection failed', { cause: error });
}
