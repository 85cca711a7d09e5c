import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { whenAborted } from '@chainstead/core';
import { type Dispatcher, Pool } from 'undici';
import { isStaleConnection, TransportError, toTransportError } from './transport-error.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Buffer;
}

export interface HttpRequest {
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
