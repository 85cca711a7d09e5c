import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import zlib from 'node:zlib';
import { errorText } from '@chainstead/core';
import { listenOnLoopback } from 'chainstead/src/demo/network/loopback-server.ts';
import type { SourceEncoding, SourceFaults } from './source-faults.ts';

export interface SourceAnswer {
  readonly status: number;
  /** Without newlines. */
  readonly lines: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SourceRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

export interface SourceServer {
  readonly url: string;
  readonly port: number;
  readonly faults: SourceFaults;
  /** Requests by method and path, such as `POST /finalized-stream`. */
  readonly requests: Readonly<Record<string, number>>;
  /** Bodies of all requests for blocks, in order. */
  readonly queries: readonly string[];
  close(): Promise<void>;
}

/** @param options.isQuery the request is one for blocks: only these have faults by rates */
export async function startSourceServer(options: {
  readonly faults: SourceFaults;
  readonly port: number;
  readonly answer: (request: SourceRequest) => SourceAnswer;
  readonly isQuery: (request: SourceRequest) => boolean;
}): Promise<SourceServer> {
  const { faults } = options;
  const requests: Record<string, number> = {};
  const queries: string[] = [];

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    const { pathname } = new URL(incoming.url ?? '/', 'http://source');
    const request = { method: incoming.method ?? 'GET', path: pathname, body, headers: incoming.headers };
    const key = `${request.method} ${pathname}`;
    requests[key] = (requests[key] ?? 0) + 1;
    const isQuery = options.isQuery(request);
    if (isQuery) queries.push(body);
    if (faults.settings.latencyMs > 0) await sleep(faults.settings.latencyMs);
    const refusal = isQuery ? refused(faults) : null;
    send(response, refusal ?? options.answer(request), { faults, isQuery: isQuery && refusal === null });
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => response.destroy(new Error(errorText(error))));
  });
  const { url, port, close } = await listenOnLoopback(server, options.port);
  return { url, port, faults, requests, queries, close };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function refused(faults: SourceFaults): SourceAnswer | null {
  const { status } = faults.settings;
  if (status === null || !faults.roll('status')) return null;
  const { retryAfterSeconds, body = 'an injected fault' } = status;
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  if (status.status >= 300 && status.status < 400) headers.location = 'http://127.0.0.1:1/elsewhere';
  return { status: status.status, lines: [body], headers };
}

function send(
  response: ServerResponse,
  { status, lines: honest, headers }: SourceAnswer,
  { faults, isQuery }: { readonly faults: SourceFaults; readonly isQuery: boolean },
): void {
  const isData = isQuery && status === 200;
  const { settings } = faults;
  const lines = isData && settings.rewrite !== null ? settings.rewrite(honest) : honest;
  const cut = isData && settings.cut !== null && faults.roll('cut') ? settings.cut : null;
  const whole = lines.slice(0, cut?.afterLines ?? lines.length).map((line) => `${line}\n`);
  const next = lines[cut?.afterLines ?? lines.length];
  if (cut !== null && cut.where !== 'line' && next !== undefined) whole.push(next.slice(0, next.length >> 1));
  const encoding = isData ? settings.encoding : 'identity';
  const encoded = encode(Buffer.from(whole.join('')), encoding);
  const isTruncated = isData && faults.roll('truncate');
  const bytes = isTruncated ? encoded.subarray(0, encoded.length >> 1) : encoded;
  response.writeHead(status, {
    'content-type': 'application/jsonl',
    ...(encoding === 'gzip' || encoding === 'zstd' ? { 'content-encoding': encoding } : {}),
    ...headers,
  });
  if (status === 204) response.end();
  else if (cut?.where === 'connection') response.write(bytes, () => response.destroy());
  else if (isData && settings.dripMs !== null) drip(response, bytes, settings.dripMs);
  else response.end(bytes);
}

function drip(response: ServerResponse, bytes: Buffer, everyMs: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < bytes.length) response.write(bytes.subarray(sent, ++sent));
    else response.end();
  }, everyMs);
  response.once('close', () => clearInterval(timer));
}

function encode(bytes: Buffer, encoding: SourceEncoding): Buffer {
  if (encoding === 'identity') return bytes;
  return encoding === 'zstd' ? zlib.zstdCompressSync(bytes) : zlib.gzipSync(bytes);
}
