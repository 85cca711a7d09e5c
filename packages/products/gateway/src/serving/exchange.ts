import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { CLIENT_CLOSED_REQUEST, type Principal, ScopeMissingError } from '@chainstead/http';
import { KEY_PATTERN } from '@chainstead/http/key-store';
import type { KeyStore, RawGate } from '@chainstead/http/server';
import type { RawResult } from '@chainstead/rpc';
import { type RpcErrorObject, unauthorized } from '../protocol/rpc-errors.ts';
import type { Subscriber } from '../subscriptions/client-subscriptions.ts';

/** For metrics and logs: never contains the key. */
export const ROUTE = '/:chain/:apiKey';

const STALL_MS = 30_000;

/** Above, copying costs more than the second write that it saves. */
const TEXT_BYTES_MAX = 32_768;

export class Exchange implements Reply {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly requestId: string;
  readonly subscriber = null;
  keyId = OPEN_KEY_ID;
  cors: readonly string[] = [];
  readonly #gate: RawGate;
  readonly #startedAt = performance.now();

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, gate: RawGate) {
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.requestId = gate.requestId(incoming.headers);
    this.#gate = gate;
  }

  sendText(status: number, text: string, headers: readonly string[] = []): void {
    const length = Buffer.byteLength(text);
    this.outgoing.writeHead(status, this.#headers(['content-length', String(length), ...headers]));
    this.outgoing.end(text);
    this.#log(status);
  }

  sendMessage(status: number, message: string, headers: readonly string[] = []): void {
    this.sendText(status, JSON.stringify({ message }), headers);
  }

  sendRefusal(status: number, message: string): void {
    this.sendMessage(status, message);
  }

  abandon(): void {
    this.#log(CLIENT_CLOSED_REQUEST);
  }

  sendResult(head: string, result: Buffer, tail: string): void {
    if (result.length > TEXT_BYTES_MAX || Buffer.byteLength(head) !== head.length) {
      this.sendParts([head, result, tail]);
      return;
    }
    const length = head.length + result.length + tail.length;
    this.outgoing.writeHead(200, this.#headers(['content-length', String(length)]));
    // One write costs half of two. Latin 1 preserves the bytes of the result.
    this.outgoing.end(head + result.toString('latin1') + tail, 'latin1');
    this.#log(200);
  }

  sendParts(parts: readonly (string | Buffer)[]): void {
    const buffers = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
    const length = buffers.reduce((sum, { length: bytes }) => sum + bytes, 0);
    const { outgoing } = this;
    outgoing.writeHead(200, this.#headers(['content-length', String(length)]));
    // All parts leave together without a copy.
    outgoing.cork();
    for (const buffer of buffers) outgoing.write(buffer);
    outgoing.end();
    this.#log(200);
  }

  /** @throws the part's error, after cutting the connection: truncated must not look complete */
  async sendStream(parts: AsyncIterable<AnswerPart>): Promise<void> {
    const { outgoing } = this;
    try {
      outgoing.writeHead(200, this.#headers([]));
      for await (const part of parts) {
        if (typeof part === 'string' || Buffer.isBuffer(part)) await this.#write(part);
        else for await (const piece of part) await this.#write(piece);
      }
      outgoing.end();
    } catch (error) {
      outgoing.destroy();
      throw error;
    } finally {
      this.#log(200);
    }
  }

  onGone(listener: () => void): () => void {
    this.outgoing.once('close', listener);
    return () => this.outgoing.off('close', listener);
  }

  async #write(piece: string | Buffer): Promise<void> {
    const { outgoing } = this;
    if (outgoing.destroyed) throw new ClientGoneError();
    if (outgoing.write(piece)) return;
    const gone = new AbortController();
    const onClose = (): void => gone.abort();
    outgoing.once('close', onClose);
    const stop = AbortSignal.any([gone.signal, AbortSignal.timeout(STALL_MS)]);
    try {
      await once(outgoing, 'drain', { signal: stop });
    } catch (error) {
      if (stop.aborted) throw new ClientGoneError();
      throw error;
    } finally {
      outgoing.off('close', onClose);
    }
  }

  #headers(own: readonly string[]): string[] {
    const headers = ['content-type', 'application/json', 'x-request-id', this.requestId, ...own];
    if (this.cors.length > 0) headers.push(...this.cors);
    return headers;
  }

  #log(status: number): void {
    this.#gate.log({
      requestId: this.requestId,
      method: this.incoming.method ?? 'POST',
      route: ROUTE,
      status,
      durationMs: performance.now() - this.#startedAt,
      keyId: this.keyId === OPEN_KEY_ID ? undefined : this.keyId,
    });
  }
}

/** The client closed the connection before it had its response, or stopped reading it. */
export class ClientGoneError extends Error {
  constructor() {
    super('The client closed the connection');
    this.name = 'ClientGoneError';
  }
}

interface AdmissionRefusal {
  readonly status: number;
  readonly message: string;
  readonly error?: RpcErrorObject;
}

export interface Admission {
  readonly keyId: string;
  /** For pages of other origins: names and values alternate. */
  readonly cors: readonly string[];
  readonly refusal: AdmissionRefusal | null;
}

interface AuthorizeOptions {
  readonly gate: RawGate;
  readonly keys: KeyStore;
}

export const OPEN_KEY_ID = 'open';

const OPEN: Admission = { keyId: OPEN_KEY_ID, cors: [], refusal: null };

export function authorize(
  headers: IncomingHttpHeaders,
  key: string,
  options: AuthorizeOptions,
): Admission | Promise<Admission> {
  const isOpen = options.gate.isOpen();
  if (isOpen instanceof Promise) return isOpen.then((open) => authorizeKnowing(open, headers, key, options));
  return authorizeKnowing(isOpen, headers, key, options);
}

function authorizeKnowing(
  isOpen: boolean,
  headers: IncomingHttpHeaders,
  key: string,
  { gate, keys }: AuthorizeOptions,
): Admission | Promise<Admission> {
  const cors = headers.origin === undefined ? [] : gate.corsHeaders(headers.origin, isOpen);
  if (isOpen) {
    const refusal = gate.refusal(headers);
    return refusal === null && cors.length === 0 ? OPEN : { ...OPEN, cors, refusal };
  }
  const refused = (message: string): Admission => ({
    keyId: OPEN_KEY_ID,
    cors,
    refusal: { status: 401, message },
  });
  if (!KEY_PATTERN.test(key)) return refused('Token is invalid format');
  const admit = (principal: Principal | null): Admission => {
    if (principal === null) return refused('Node Key not valid');
    const { id: keyId, scopes } = principal;
    if (scopes.has('rpc')) return { keyId, cors, refusal: null };
    const { status, message } = new ScopeMissingError('rpc', principal);
    return { keyId, cors, refusal: { status, message, error: unauthorized(message) } };
  };
  const principal = keys.verify(key);
  return principal instanceof Promise ? principal.then(admit) : admit(principal);
}

export type AnswerPart = string | RawResult;

/** For one body, over HTTP or a WebSocket. One method is called, once. */
export interface Reply {
  readonly keyId: string;
  readonly subscriber: Subscriber | null;
  /** An empty text sends no response. Status and headers are for HTTP. */
  sendText(status: number, text: string, headers?: readonly string[]): void;
  sendRefusal(status: number, message: string, rpcText: string): void;
  sendResult(head: string, result: Buffer, tail: string): void;
  sendParts(parts: readonly (string | Buffer)[]): void;
  /** @throws the error of a part's iteration: the response is incomplete */
  sendStream(parts: AsyncIterable<AnswerPart>): Promise<void>;
  /** @returns stops it */
  onGone(listener: () => void): () => void;
}
