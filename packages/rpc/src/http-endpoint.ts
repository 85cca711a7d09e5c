import { basicAuthorization, createHttpExchange, isLocal, TransportError } from '@chainstead/upstream-http';
import type { Dispatcher } from 'undici';
import { parseRetryAfter } from './back-off.ts';
import type { UpstreamConfig } from './upstream-pool.ts';

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

/** Posts JSON to one URL over kept-alive connections. */
export interface HttpEndpoint {
  /** @throws TransportError */
  post(payload: string, options: { timeoutMs: number; signal?: AbortSignal | undefined }): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** Posts to the upstream's URL, with limits of size and time on each answer. */
export function createHttpEndpoint(options: {
  readonly config: UpstreamConfig;
  readonly concurrency: number;
  readonly responseBytesMax: number;
}): HttpEndpoint {
  const url = new URL(options.config.url);
  const exchange = createHttpExchange({
    origin: url.origin,
    connections: options.concurrency,
    answerBytesMax: options.responseBytesMax,
  });
  const headers = requestHeaders(url, options.config);
  if (!isLocal(url)) headers['accept-encoding'] ??= 'gzip, br';
  const path = `${url.pathname}${url.search}`;
  return {
    async post(body, { timeoutMs, signal }) {
      const answer = await exchange.send({ method: 'POST', path, headers, body, timeoutMs, signal });
      return toAnswer({ statusCode: answer.status, headers: answer.headers }, answer.body);
    },
    close: () => exchange.close(),
  };
}

/** Headers of every request to an upstream. */
export function requestHeaders(url: URL, config: UpstreamConfig): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  const authorization = basicAuthorization(url);
  if (authorization !== null) headers.authorization = authorization;
  for (const [name, value] of Object.entries(config.headers ?? {})) headers[name.toLowerCase()] = value;
  return headers;
}

/** A text without the byte order mark that some servers put before it. */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** The answer that a whole body is. @throws TransportError where it should be JSON and is not */
export function toAnswer(response: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>, body: Buffer): HttpAnswer {
  const text = withoutMark(body.toString('utf8'));
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
