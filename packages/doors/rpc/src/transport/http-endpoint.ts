import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonBoundsError, requireModestJson } from '@chainstead/core';
import { type Dispatcher, Pool } from 'undici';
import { parseRetryAfter } from '../upstream-http/http-exchange.ts';
import { basicAuthorization, isLocal, TransportError } from '../upstream-http/index.ts';
import type { UpstreamConfig } from '../upstream-pool.ts';
import { createDeadlines, type Deadlines } from './deadlines.ts';
import { freeBody } from './growing-body.ts';
import { type RawOutgoing, type RawReply, type RawRequestShared, sendRaw, sendWhole } from './raw-request.ts';

export interface JsonAnswer {
  readonly status: number;
  /** Undefined: no JSON, only with error statuses. */
  readonly json: unknown;
  readonly text: string;
  readonly bytes: number;
  readonly retryAfterMs?: number | undefined;
}

/** Own calls are read whole; large forwarded results are streamed. */
interface HttpEndpoint {
  /** May send twice, if a kept connection closes. @throws TransportError */
  post(
    payload: string,
    options: { timeoutMs: number; signal?: AbortSignal | undefined; bytesMax?: number | undefined },
  ): Promise<JsonAnswer>;
  /** Unparsed. @throws TransportError; once streaming, a failure ends the iteration */
  send(outgoing: RawOutgoing): Promise<RawReply>;
  close(): Promise<void>;
}

interface HttpEndpointOptions {
  readonly config: UpstreamConfig;
  readonly connections: number;
  readonly limits: Pick<RawRequestShared['limits'], 'responseBytesMax'> & Partial<RawRequestShared['limits']>;
  /** @default a new one */
  readonly deadlines?: Deadlines;
  /** Worth it if this process parses them. @default false */
  readonly compressed?: boolean;
  /** False: a closed idle connection never leaves a send's outcome unknown. @default true */
  readonly keepAlive?: boolean;
  readonly ended?: RawRequestShared['ended'];
  /** A failure after a stream was returned; returns the reader's error. */
  readonly broken?: RawRequestShared['broken'];
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Traces nest as deep as calls. */
const DEPTH_MAX = 8_192;

export function createHttpEndpoint(options: HttpEndpointOptions): HttpEndpoint {
  const { config, connections, limits, deadlines = createDeadlines(), keepAlive = true } = options;
  const url = new URL(config.url);
  const dispatcher = new Pool(url.origin, {
    connections,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    ...(keepAlive ? {} : { pipelining: 0 }),
  });
  const headers = requestHeaders(url, config);
  if (options.compressed === true && !isLocal(url)) headers['accept-encoding'] ??= 'gzip, br';
  const whole: RawRequestShared = {
    dispatcher,
    path: `${url.pathname}${url.search}`,
    headers,
    deadlines,
    limits: { ...limits, streamFromBytes: Number.POSITIVE_INFINITY, streamBytesMax: Number.POSITIVE_INFINITY },
    ended: () => undefined,
    broken: (_method, error) => error,
  };
  const streamed: RawRequestShared = {
    ...whole,
    limits: { ...whole.limits, ...limits },
    ended: options.ended ?? whole.ended,
    broken: options.broken ?? whole.broken,
  };
  return {
    async post(payload, { timeoutMs, signal, bytesMax }) {
      if (signal?.aborted) throw new TransportError('aborted', 'given up');
      const reply = await sendWhole(whole, { payload, timeoutMs, signal, bytesMax });
      const answer = toAnswer(reply, reply.body);
      // Readers of large values take long too: other work of the process has its turn between.
      if (answer.bytes >= MEASURED_FROM_BYTES) await nextTurn();
      return answer;
    },
    send: (outgoing) => sendRaw(streamed, outgoing),
    close: () => dispatcher.destroy(),
  };
}

function requestHeaders(url: URL, config: UpstreamConfig): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  const authorization = basicAuthorization(url);
  if (authorization !== null) headers.authorization = authorization;
  for (const [name, value] of Object.entries(config.headers ?? {})) headers[name.toLowerCase()] = value;
  return headers;
}

export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** Frees a large body. @throws TransportError if it must be JSON and is not */
export function toAnswer(
  response: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
  body: Buffer,
): JsonAnswer {
  const { length: bytes } = body;
  requireModest(body);
  const text = withoutMark(body.toString('utf8'));
  freeBody(body);
  const json = parseJson(text);
  const isError = response.statusCode < 200 || response.statusCode > 299;
  if (json === undefined && !isError) {
    const cut = /^\s*[[{]/.test(text);
    const problem = `the body is ${cut ? 'cut-off' : 'not'} JSON: ${JSON.stringify(text.slice(0, 80))}`;
    throw new TransportError(cut ? 'truncated' : 'not-json', problem);
  }
  const header = response.headers['retry-after'];
  return {
    status: response.statusCode,
    json,
    text: isError ? text.slice(0, 500) : '',
    bytes,
    retryAfterMs: parseRetryAfter(Array.isArray(header) ? header[0] : header, Date.now()),
  };
}

/** Fewer bytes take 120 MB at most, and measuring takes longer than JSON.parse: batches behind a head are of 1 to 2 MB. */
const MEASURED_FROM_BYTES = 4 * 1024 * 1024;

/** @throws TransportError for values that would take many times the bytes */
function requireModest(body: Buffer): void {
  if (body.length < MEASURED_FROM_BYTES) return;
  try {
    // Invariant: HTTP-BODY-BOUNDED
    requireModestJson(body, { depthMax: DEPTH_MAX });
  } catch (error) {
    if (!(error instanceof JsonBoundsError)) throw error;
    freeBody(body);
    throw new TransportError('not-json', `the body of ${body.length} bytes is refused: ${error.message}`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
