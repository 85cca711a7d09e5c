import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { PoolLimits } from '../limits/call-limits.ts';
import { isStaleConnection, TransportError, toTransportError } from '../upstream-http/index.ts';
import type { Deadline, Deadlines } from './deadlines.ts';
import { GrowingBody } from './growing-body.ts';
import { LARGE_RESPONSE_BYTES, type LargeResponse, largeResponses } from './large-responses.ts';
import { createResultStream, type ResultStream } from './result-stream.ts';
import { scanEnvelope } from './scan-envelope.ts';

export interface RawOutgoing {
  readonly payload: string;
  readonly id: number;
  readonly method: string;
  /** May be sent again if a kept connection proves closed. */
  readonly isRepeatable: boolean;
  /** To the whole response, or between chunks. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Not streamed. @default RawRequestShared.limits.responseBytesMax */
  readonly bytesMax?: number | undefined;
}

export interface WholeReply {
  readonly kind: 'whole';
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly latencyMs: number;
}

export type RawReply =
  | WholeReply
  | { readonly kind: 'stream'; readonly pieces: AsyncIterable<Buffer>; readonly latencyMs: number };

export interface RawRequestShared {
  readonly dispatcher: Dispatcher;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly deadlines: Deadlines;
  readonly limits: Pick<PoolLimits, 'streamFromBytes' | 'responseBytesMax' | 'streamBytesMax'>;
  ended(): void;
  /** A failure after the reply was returned; returns the reader's error. */
  broken(method: string, error: TransportError): Error;
}

const DECODERS = new Map<string, () => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  ['deflate', () => createInflate()],
]);

/** undici needs state: one object per request instead of five closures. */
class RawRequest implements Dispatcher.DispatchHandler, Deadline, LargeResponse {
  at: number;
  place = -1;
  readonly #started = performance.now();
  readonly #shared: RawRequestShared;
  readonly #outgoing: RawOutgoing;
  readonly #resolve: (reply: RawReply) => void;
  readonly #reject: (error: TransportError) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #statusCode = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #large: GrowingBody | null = null;
  #size = 0;
  #decoder: Transform | null = null;
  #stream: ResultStream | null = null;
  #isHeldByReader = false;
  #isOver = false;
  #mayRepeat: boolean;

  constructor(
    shared: RawRequestShared,
    outgoing: RawOutgoing,
    resolve: (reply: RawReply) => void,
    reject: (error: TransportError) => void,
  ) {
    this.#shared = shared;
    this.#outgoing = outgoing;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#mayRepeat = outgoing.isRepeatable;
    this.at = this.#started + outgoing.timeoutMs;
    shared.deadlines.add(this);
    outgoing.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  dispatch(): void {
    const { dispatcher, path, headers } = this.#shared;
    try {
      dispatcher.dispatch({ path, method: 'POST', headers, body: this.#outgoing.payload }, this);
    } catch (error) {
      this.#fail(toTransportError(error, this.#shared.limits.responseBytesMax));
    }
  }

  passed(): void {
    const what = this.#stream === null ? 'answer' : 'further piece of the answer';
    const ms = this.#outgoing.timeoutMs;
    if (this.#isHeldByReader) this.#fail(new TransportError('aborted', `nothing was read for ${ms} ms`));
    else this.#fail(new TransportError('timeout', `no ${what} within ${ms} ms`));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new TransportError('aborted', 'given up'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.#statusCode = statusCode;
    this.#headers = headers;
    this.#mayRepeat = false;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined) this.#decode(encoding);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#decoder === null) this.#take(chunk);
    else if (!this.#decoder.write(chunk)) this.#controller?.pause();
  }

  onResponseEnd(): void {
    if (this.#decoder === null) this.#finish();
    else this.#decoder.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    if (this.#mayRepeat && isStaleConnection(error)) {
      this.#mayRepeat = false;
      this.dispatch();
      return;
    }
    this.#fail(toTransportError(error, this.#shared.limits.responseBytesMax));
  }

  readonly #onAbort = (): void => this.#fail(new TransportError('aborted', 'given up'));

  #decode(encoding: string): void {
    const decoder = DECODERS.get(encoding.trim().toLowerCase())?.();
    if (decoder === undefined) return;
    this.#decoder = decoder;
    decoder.on('data', (chunk: Buffer) => this.#take(chunk));
    decoder.on('drain', () => this.#controller?.resume());
    decoder.on('end', () => this.#finish());
    decoder.on('error', (error) => this.#fail(toTransportError(error, this.#shared.limits.responseBytesMax)));
  }

  #take(chunk: Buffer): void {
    if (this.#isOver) return;
    const { streamFromBytes, responseBytesMax, streamBytesMax } = this.#shared.limits;
    const before = this.#size;
    this.#size += chunk.length;
    if (this.#stream !== null) {
      this.at = performance.now() + this.#outgoing.timeoutMs;
      if (this.#size > streamBytesMax) this.#fail(tooLarge(streamBytesMax));
      else this.#stream.push(chunk);
      return;
    }
    if (this.#large === null) this.#chunks.push(chunk);
    if (before <= streamFromBytes && this.#size > streamFromBytes) this.#openStream();
    if (this.#stream !== null) return;
    const bytesMax = this.#outgoing.bytesMax ?? responseBytesMax;
    if (this.#size > bytesMax) this.#fail(tooLarge(bytesMax));
    else if (this.#large !== null) this.#large.push(chunk);
    else if (this.#size > LARGE_RESPONSE_BYTES) this.#enterLarge(bytesMax);
  }

  #enterLarge(bytesMax: number): void {
    this.#large = new GrowingBody(bytesMax);
    for (const chunk of this.#chunks.splice(0)) this.#large.push(chunk);
    if (largeResponses.enter(this)) return;
    this.at = Number.POSITIVE_INFINITY;
    this.#pause();
  }

  admitted(): void {
    this.at = performance.now() + this.#outgoing.timeoutMs;
    this.#resume();
  }

  #openStream(): void {
    if (this.#statusCode < 200 || this.#statusCode > 299) return;
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [bytes];
    const scanned = scanEnvelope(bytes);
    if (scanned.kind !== 'open-result' || scanned.error !== null) return;
    const { id, start, scanner } = scanned;
    if (id !== null && !isId(bytes.toString('latin1', id.start, id.end), this.#outgoing.id)) return;
    this.#chunks = [];
    this.#stream = createResultStream({
      first: bytes.subarray(start),
      scanner,
      isList: scanned.isList,
      checkTail: (members) => checkTail(members, this.#outgoing.id),
      source: {
        pause: () => this.#holdByReader(true),
        resume: () => this.#holdByReader(false),
        cancel: () => this.#fail(new TransportError('aborted', 'given up')),
      },
    });
    this.at = performance.now() + this.#outgoing.timeoutMs;
    this.#resolve({ kind: 'stream', pieces: this.#stream.pieces, latencyMs: performance.now() - this.#started });
  }

  #holdByReader(isHeld: boolean): void {
    this.#isHeldByReader = isHeld;
    this.at = performance.now() + this.#outgoing.timeoutMs;
    if (isHeld) this.#pause();
    else this.#resume();
  }

  #pause(): void {
    if (this.#decoder === null) this.#controller?.pause();
    else this.#decoder.pause();
  }

  #resume(): void {
    if (this.#decoder === null) this.#controller?.resume();
    else this.#decoder.resume();
  }

  #finish(): void {
    if (this.#isOver) return;
    if (this.#stream === null) {
      const [first] = this.#chunks;
      const body =
        this.#large?.whole() ??
        (this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks));
      this.#over();
      const latencyMs = performance.now() - this.#started;
      this.#resolve({ kind: 'whole', statusCode: this.#statusCode, headers: this.#headers, body, latencyMs });
      return;
    }
    const wrong = this.#stream.end();
    if (wrong === null) this.#over();
    else this.#fail(new TransportError('truncated', wrong));
  }

  #fail(error: TransportError): void {
    if (this.#isOver) return;
    this.#large?.free();
    this.#over();
    this.#decoder?.destroy();
    this.#controller?.abort(error);
    if (this.#stream === null) this.#reject(error);
    else this.#stream.fail(this.#shared.broken(this.#outgoing.method, error));
  }

  #over(): void {
    this.#isOver = true;
    // The connection keeps this object until its next request.
    this.#chunks = [];
    this.#large = null;
    if (this.#size > LARGE_RESPONSE_BYTES) largeResponses.leave(this);
    this.#shared.deadlines.delete(this);
    this.#outgoing.signal?.removeEventListener('abort', this.#onAbort);
    this.#shared.ended();
  }
}

/** Rejects with TransportError; once streaming, a failure ends the iteration. */
export function sendRaw(shared: RawRequestShared, outgoing: RawOutgoing): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    new RawRequest(shared, outgoing, resolve, reject).dispatch();
  });
}

/** Repeatable; `shared` streams none. @throws TransportError */
export async function sendWhole(
  shared: RawRequestShared,
  outgoing: Pick<RawOutgoing, 'payload' | 'timeoutMs' | 'signal' | 'bytesMax'>,
): Promise<WholeReply> {
  const reply = await sendRaw(shared, { ...outgoing, id: 0, method: '', isRepeatable: true });
  if (reply.kind === 'whole') return reply;
  throw new TypeError('The response is a stream, but a complete body was expected');
}

/** Nodes may write the id as a string, or null. */
export function isId(text: string, id: number): boolean {
  return text === `${id}` || text === `"${id}"` || text === 'null';
}

function checkTail(members: Readonly<Record<string, unknown>>, id: number): string | null {
  if (members.result !== undefined) return 'there are two results';
  if (members.error !== undefined && members.error !== null) return 'an error follows the result';
  if (members.id === undefined || members.id === null || String(members.id) === String(id)) return null;
  return `the response to call ${id} carries id ${String(members.id).slice(0, 20)}`;
}

function tooLarge(bytesMax: number): TransportError {
  return new TransportError('too-large', `the answer exceeds ${bytesMax} bytes`);
}
