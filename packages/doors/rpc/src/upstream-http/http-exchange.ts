import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { ChainsteadError, errorText, whenAborted } from '@chainstead/core';
import { type Dispatcher, Pool } from 'undici';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Buffer;
}

interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpExchange {
  /** May be sent twice, if a connection closes. @throws TransportError */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];
const gunzipBytes = promisify(gunzip);
const inflateBytes = promisify(inflate);
const brotliBytes = promisify(brotliDecompress);

/** @param options.answerBytesMax as sent, and after decompression */
export function createHttpExchange(options: {
  readonly origin: string;
  readonly connections: number;
  readonly answerBytesMax: number;
}): HttpExchange {
  const { origin, connections, answerBytesMax } = options;
  const pool = new Pool(origin, {
    connections,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    maxResponseSize: answerBytesMax,
  });

  async function exchange(request: Dispatcher.RequestOptions, signal: AbortSignal): Promise<HttpAnswer> {
    let response: Dispatcher.ResponseData;
    try {
      response = await pool.request({ ...request, signal });
    } catch (error) {
      if (signal.aborted || !isStaleConnection(error)) throw error;
      response = await pool.request({ ...request, signal });
    }
    const raw = Buffer.from(await response.body.arrayBuffer());
    const body = await decompress(raw, response.headers['content-encoding'], answerBytesMax);
    return { status: response.statusCode, headers: response.headers, body };
  }

  return {
    async send({ timeoutMs, signal, ...request }) {
      const controller = new AbortController();
      let timedOut = false;
      const timer = setTimeout(() => {
        timedOut = true;
        controller.abort();
      }, timeoutMs);
      if (signal?.aborted) controller.abort();
      const forgetSignal = whenAborted(signal, () => controller.abort());
      try {
        return await exchange(request, controller.signal);
      } catch (error) {
        if (timedOut) throw new TransportError('timeout', `no answer within ${timeoutMs} ms`, error);
        if (signal?.aborted) throw new TransportError('aborted', 'given up', error);
        throw toTransportError(error, answerBytesMax);
      } finally {
        clearTimeout(timer);
        forgetSignal();
      }
    },
    close: () => pool.destroy(),
  };
}

/** Compression does not pay on this machine. */
export function isLocal({ hostname }: URL): boolean {
  return LOCAL_HOSTS.includes(hostname);
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

/** `truncated`: cut off or damaged. `aborted`: by the caller. */
type TransportFault = 'connection' | 'timeout' | 'truncated' | 'not-json' | 'too-large' | 'aborted';

/** The HTTP request to the node failed or returned no usable response. */
export class TransportError extends ChainsteadError {
  readonly kind: TransportFault;

  constructor(kind: TransportFault, message: string, cause?: unknown) {
    super({ code: 'TRANSPORT', message, facts: { kind }, retryable: true, cause });
    this.kind = kind;
  }
}

export function isStaleConnection(error: unknown): boolean {
  return errorCode(error) === 'UND_ERR_SOCKET' || errorCode(error) === 'ECONNRESET';
}

export function toTransportError(error: unknown, answerBytesMax: number): TransportError {
  if (error instanceof TransportError) return error;
  const code = errorCode(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || code === 'ERR_BUFFER_TOO_LARGE')
    return new TransportError('too-large', `the answer exceeds ${answerBytesMax} bytes`, error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new TransportError('timeout', errorText(error), error);
  if (
    code.startsWith('Z_') ||
    code.startsWith('ERR__ERROR_FORMAT') ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
  )
    return new TransportError('truncated', `the body is damaged: ${errorText(error)}`, error);
  return new TransportError('connection', errorText(error) || code || 'connection failed', error);
}

function errorCode(error: unknown): string {
  return String(Object(error).code ?? '');
}

/** Doubles with each try. Half is random: callers don't return together. */
export function backOffMs(tries: number, baseMs: number, maxMs: number, random = Math.random()): number {
  const full = Math.min(maxMs, baseMs * 2 ** Math.min(30, tries));
  return full / 2 + (full / 2) * random;
}

export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** RFC 7617; null without. @throws URIError for malformed percent-encoding */
export function basicAuthorization({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}
