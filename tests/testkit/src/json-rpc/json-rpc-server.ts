import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '@chainstead/core';
import { type ListeningServer, listenOnLoopback } from 'chainstead/src/demo/network/loopback-server.ts';
import type { Faults, ThrottleStyle } from './faults.ts';
import { envelope, type JsonPieces, type RpcHandler, type RpcReply, rpcError } from './json-rpc-reply.ts';
import { createRequestCounters, type RequestCounters } from './request-counters.ts';

export interface JsonRpcServerOptions {
  readonly handlers: ReadonlyMap<string, RpcHandler>;
  readonly faults: Faults;
  /** 0 or absent: any free port. */
  readonly port?: number;
}

/** A JSON-RPC server over HTTP on 127.0.0.1. */
export interface JsonRpcServer extends ListeningServer {
  readonly faults: Faults;
  readonly counters: RequestCounters;
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What one HTTP request gets: status, headers and body, or nothing at all. */
interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: JsonPieces;
}

const NOT_JSON =
  '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>';

/**
 * Starts a server with keep-alive and batches. `GET /counters` gives the counters; `POST /counters/reset` zeroes them and
 * `POST /faults` with a JSON object of settings changes the faults, so that a node in another process can be steered.
 */
export async function startJsonRpcServer(options: JsonRpcServerOptions): Promise<JsonRpcServer> {
  const counters = createRequestCounters();
  const throttle = createThrottle(options.faults);
  const context: Context = { ...options, counters, throttle };
  const server: Server = createServer((request, response) => {
    serve(context, request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const listening = await listenOnLoopback(server, options.port ?? 0);
  return { ...listening, faults: options.faults, counters };
}

interface Context extends JsonRpcServerOptions {
  readonly counters: RequestCounters;
  readonly throttle: Throttle;
}

async function serve(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  if (request.method === 'GET' || (request.url ?? '/') !== '/') {
    answerControl(context, request, response, body);
    return;
  }
  context.counters.httpRequests += 1;
  context.counters.bytesReceived += body.length;
  const parsed = parseCalls(body);
  const answer = await answerRpc(context, parsed);
  if (answer !== null) send(context, response, answer, parsed);
}

/** Null: the request is never answered; the client has to give up. */
async function answerRpc(context: Context, parsed: ParsedBody): Promise<HttpAnswer | null> {
  const { faults, throttle } = context;
  const { settings } = faults;
  for (const call of parsed.calls) context.counters.count(call.method);
  if (parsed.batch) context.counters.batches += 1;
  if (settings.latencyMs > 0) await sleep(settings.latencyMs);
  const targeted = isTargeted(settings.methods, parsed.calls);
  if (targeted) {
    if (faults.roll('hang', settings.hangRate)) return null;
    if (faults.roll('notJson', settings.notJsonRate)) return { status: 200, pieces: [NOT_JSON] };
    const { httpStatus } = settings;
    if (httpStatus !== null && faults.roll('httpStatus', httpStatus.rate))
      return { status: httpStatus.status, pieces: [httpStatus.body ?? 'Service Unavailable'] };
    const refused = throttle.refuseRequest(parsed.calls.length);
    if (refused !== null) return refused;
  }
  return parsed.batch ? answerBatch(context, parsed.calls) : answerSingle(context, parsed);
}

async function answerSingle(context: Context, parsed: ParsedBody): Promise<HttpAnswer> {
  const call = parsed.calls[0];
  if (call === undefined) return { status: 200, pieces: envelope(null, rpcError(-32700, 'parse error')) };
  const reply = await answerCall(context, call);
  return { status: ('error' in reply && reply.httpStatus) || 200, pieces: envelope(call.id, reply) };
}

async function answerBatch(context: Context, calls: readonly Call[]): Promise<HttpAnswer> {
  const { noBatch } = context.faults.settings;
  if (calls.length === 0) return { status: 200, pieces: envelope(null, rpcError(-32600, 'empty batch')) };
  if (noBatch)
    return { status: 200, pieces: envelope(null, rpcError(-32600, 'batch requests are not supported')) };
  const replies = await Promise.all(calls.map((call) => answerCall(context, call)));
  const pieces: (string | Uint8Array)[] = ['['];
  calls.forEach((call, index) => {
    if (index > 0) pieces.push(',');
    pieces.push(...envelope(call.id, replies[index] ?? rpcError(-32603, 'no reply')));
  });
  pieces.push(']');
  return { status: 200, pieces };
}

async function answerCall(context: Context, call: Call): Promise<RpcReply> {
  const { faults, handlers, throttle } = context;
  if (isTargeted(faults.settings.methods, [call])) {
    if (faults.roll('error', faults.settings.errorRate)) return { error: faults.pickError() };
    const refused = throttle.refuseCall();
    if (refused !== null) return refused;
  }
  const handler = handlers.get(call.method);
  if (handler === undefined) return rpcError(-32601, `the method ${call.method} does not exist/is not available`);
  try {
    return await handler(call.params);
  } catch (error) {
    return rpcError(-32603, errorText(error));
  }
}

function isTargeted(methods: readonly string[] | null, calls: readonly Call[]): boolean {
  return methods === null || calls.some((call) => methods.includes(call.method));
}

function send(context: Context, response: ServerResponse, answer: HttpAnswer, parsed: ParsedBody): void {
  const pieces = joinText(answer.pieces);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const { truncate } = context.faults.settings;
  const cut =
    truncate !== null &&
    isTargeted(context.faults.settings.methods, parsed.calls) &&
    context.faults.roll('truncate', truncate.rate);
  const sent = cut ? [Buffer.concat(pieces).subarray(0, Math.floor(length / 2))] : pieces;
  const sentLength = cut ? Math.floor(length / 2) : length;
  const announced = cut && truncate.style === 'json' ? sentLength : length;
  context.counters.bytesSent += sentLength;
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': announced,
    ...answer.headers,
  });
  response.cork();
  for (const piece of sent) response.write(piece);
  response.uncork();
  if (announced === sentLength) response.end();
  else response.write('', () => response.destroy());
}

/** Neighbouring texts become one buffer; ready buffers stay as they are. */
function joinText(pieces: JsonPieces): Uint8Array[] {
  const joined: Uint8Array[] = [];
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    if (text !== '') joined.push(Buffer.from(text));
    text = '';
    joined.push(piece);
  }
  if (text !== '') joined.push(Buffer.from(text));
  return joined;
}

interface ParsedBody {
  readonly batch: boolean;
  readonly calls: readonly Call[];
}

function parseCalls(body: Buffer): ParsedBody {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString());
  } catch {
    return { batch: false, calls: [] };
  }
  return Array.isArray(parsed)
    ? { batch: true, calls: parsed.map(toCall) }
    : { batch: false, calls: [toCall(parsed)] };
}

function toCall(given: unknown): Call {
  const object = typeof given === 'object' && given !== null ? (given as Partial<Call>) : {};
  return {
    id: object.id ?? null,
    method: typeof object.method === 'string' ? object.method : '',
    params: Array.isArray(object.params) ? object.params : [],
  };
}

function answerControl(context: Context, request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  if (request.url === '/counters/reset') context.counters.reset();
  else if (request.url === '/faults') context.faults.set(JSON.parse(body.toString()));
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ ...context.counters.snapshot(), injected: context.faults.injected }));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** Refuses calls in the way that the throttle setting says. */
interface Throttle {
  /** The response to a whole HTTP request of so many calls that is refused, or null to let it through. */
  refuseRequest(calls: number): {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly pieces: JsonPieces;
  } | null;
  /** The error for one call that is refused, or null to let it through. */
  refuseCall(): RpcReply | null;
}

const RPC_REFUSALS: Readonly<Record<Exclude<ThrottleStyle, 'http-429'>, RpcReply>> = {
  'rpc-32005': { error: { code: -32005, message: 'project ID request rate exceeded' } },
  'rpc-429-in-200': {
    error: { code: 429, message: 'Your app has exceeded its compute units per second capacity.' },
  },
};

function createThrottle(faults: Faults): Throttle {
  let second = 0;
  let callsInSecond = 0;

  function exceeds(calls: number): boolean {
    const limit = faults.settings.throttle;
    if (limit === null) return false;
    if (faults.roll('throttle', limit.rate ?? 0)) return true;
    if (limit.callsPerSecond === undefined) return false;
    const now = Math.floor(Date.now() / 1_000);
    if (now !== second) {
      second = now;
      callsInSecond = 0;
    }
    callsInSecond += calls;
    return callsInSecond > limit.callsPerSecond && faults.roll('throttle', 1);
  }

  return {
    refuseRequest(calls) {
      const limit = faults.settings.throttle;
      if (limit?.style !== 'http-429' || !exceeds(calls)) return null;
      const headers =
        limit.retryAfterSeconds === undefined ? {} : { 'retry-after': String(limit.retryAfterSeconds) };
      return { status: 429, headers, pieces: ['{"error":"Too Many Requests"}'] };
    },
    refuseCall() {
      const limit = faults.settings.throttle;
      if (limit === null || limit.style === 'http-429' || !exceeds(1)) return null;
      return RPC_REFUSALS[limit.style];
    },
  };
}
