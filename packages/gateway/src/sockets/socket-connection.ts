import { errorText, JsonBoundsError, type Logger } from '@chainstead/core';
import { type BodyBudget, bytesOfValues } from '@chainstead/http';
import type { RawData, WebSocket } from 'ws';
import type { RpcErrorObject } from '../call.ts';
import { measureBody } from '../protocol/read-requests.ts';
import { invalidRequest, TOO_MANY_BODIES } from '../protocol/rpc-errors.ts';
import { errorText as errorAnswer } from '../protocol/write-answer.ts';
import type { ServedChain } from '../serving/answer-request.ts';
import type { ServeBody } from '../serving/serve-body.ts';
import type { ClientSubscriptions } from '../subscriptions/client-subscriptions.ts';
import type { Notifications } from '../subscriptions/subscription.ts';
import type { NotificationPump } from './notification-pump.ts';
import { Outbox, SocketGoneError } from './outbox.ts';
import type { EndReason } from './socket-metrics.ts';
import { SocketReply } from './socket-reply.ts';

export interface SocketConnectionOptions {
  readonly socket: WebSocket;
  readonly served: ServedChain;
  /** Principal's id. */
  readonly keyId: string;
  readonly serveBody: ServeBody;
  /** Makes the place for the client’s subscriptions, which hand over what they tell. */
  readonly openSubscriptions: (tell: (notifications: Notifications) => void) => ClientSubscriptions;
  /** Writes what subscriptions tell. */
  readonly pump: NotificationPump;
  /** A notification is written. @param length in characters */
  readonly onNotified: (length: number) => void;
  /** What messages may take until they are answered, all together. */
  readonly bodies: BodyBudget;
  readonly logger: Logger;
  /** The connection is over. */
  readonly onClose: () => void;
  /** The server ended it. */
  readonly onEnded: (reason: EndReason) => void;
}

/** Messages of a client that are answered at once; more are not read meanwhile. */
const MESSAGES_AT_ONCE = 16;
/** How long a client may take nothing of an answer. Milliseconds. */
const STALL_MS = 30_000;
/** How long a client may take to answer the close. Milliseconds. */
const CLOSE_TIMEOUT_MS = 2_000;
/** Codes of RFC 6455. */
const GOING_AWAY = 1_001;
const POLICY = 1_008;
const TRY_AGAIN_LATER = 1_013;

/** Notifications are written while less than this waits for the client. Bytes. */
const ROOM_BYTES = 65_536;

/** One client's socket: each of its messages is a body of JSON-RPC, answered as a POST is. */
export class SocketConnection {
  readonly #options: SocketConnectionOptions;
  readonly #outbox: Outbox;
  readonly #subscriptions: ClientSubscriptions;
  readonly #gone = new Set<() => void>();
  #underWay = 0;
  #isAlive = true;
  #isEnding = false;
  #isCutOff = false;

  constructor(options: SocketConnectionOptions) {
    const { socket, pump, keyId } = options;
    this.#options = options;
    this.#outbox = new Outbox(socket, { stallMs: STALL_MS, onTaken: () => pump.resume(queue) });
    const queue = pump.open({
      keyId,
      hasRoom: () => this.#outbox.bufferedBytes < ROOM_BYTES,
      write: (text) => this.#notify(text),
      cutOff: () => this.#cutOffSlow(),
    });
    this.#subscriptions = options.openSubscriptions((notifications) => pump.push(queue, notifications));
    socket.on('message', (data) => this.#receive(toBuffer(data)));
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    // Every error is followed by the close, which is what counts.
    socket.on('error', (error) => options.logger.debug({ error: errorText(error) }, 'WebSocket failed'));
    socket.on('close', () => {
      this.#subscriptions.close();
      pump.close(queue);
      for (const tell of this.#gone) tell();
      this.#gone.clear();
      options.onClose();
    });
  }

  /** Pings the client. One that did not answer the ping before is cut off. */
  ping(): void {
    if (!this.#isAlive) {
      this.#terminate('dead');
      return;
    }
    this.#isAlive = false;
    this.#options.socket.ping();
  }

  /** The key is not valid any more. */
  revoke(): void {
    this.#options.onEnded('key');
    this.#options.socket.close(POLICY, 'Node Key not valid');
  }

  /** Reads no more, answers what is under way, and closes. */
  end(): void {
    this.#isEnding = true;
    this.#options.onEnded('shutdown');
    if (this.#underWay === 0) this.#goAway();
  }

  terminate(): void {
    this.#options.socket.terminate();
  }

  #notify(text: string): void {
    this.#options.onNotified(text.length);
    this.#outbox.send(text);
  }

  /** Tells the client why, if it reads what was written before. */
  #cutOffSlow(): void {
    if (this.#isCutOff) return;
    this.#isCutOff = true;
    this.#subscriptions.close();
    this.#options.onEnded('slow');
    this.#close(TRY_AGAIN_LATER, 'Too many notifications wait: read faster, or subscribe to less');
  }

  #close(code: number, reason: string): void {
    const { socket } = this.#options;
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
  }

  #goAway(): void {
    this.#close(GOING_AWAY, 'Server is shutting down');
  }

  #terminate(reason: EndReason): void {
    if (this.#isCutOff) return;
    this.#isCutOff = true;
    this.#subscriptions.close();
    this.#options.onEnded(reason);
    this.#options.socket.terminate();
  }

  #receive(body: Buffer): void {
    if (this.#isEnding || this.#isCutOff) return;
    const { socket } = this.#options;
    this.#underWay += 1;
    if (this.#underWay >= MESSAGES_AT_ONCE) socket.pause();
    void this.#serve(body).finally(() => {
      this.#underWay -= 1;
      if (this.#isEnding && this.#underWay === 0) this.#goAway();
      else if (socket.isPaused && this.#underWay < MESSAGES_AT_ONCE) socket.resume();
    });
  }

  /** Takes room for a message and its values. @returns how much, in bytes, or why there is none */
  #take(body: Buffer): number | RpcErrorObject {
    const { bodies, keyId } = this.#options;
    try {
      const bytes = body.length + bytesOfValues(measureBody(body), body.length);
      return bodies.take(keyId, bytes) ? bytes : TOO_MANY_BODIES;
    } catch (error) {
      if (error instanceof JsonBoundsError) return invalidRequest(error.message);
      throw error;
    }
  }

  /** Answers a message, until the client has taken most of the answer. */
  async #serve(body: Buffer): Promise<void> {
    const { serveBody, served, keyId, bodies, logger } = this.#options;
    const taken = this.#take(body);
    if (typeof taken !== 'number') {
      this.#outbox.send(errorAnswer('null', taken));
      await this.#outbox.drained();
      return;
    }
    const subscriber = this.#subscriptions.subscriberOfMessage();
    const reply = new SocketReply({ keyId, subscriber, outbox: this.#outbox, gone: this.#gone });
    try {
      await serveBody(body, reply, served);
      subscriber.answered();
      await this.#outbox.drained();
    } catch (error) {
      if (error instanceof SocketGoneError) return;
      logger.error({ chain: served.chain.slug, error: errorText(error) }, 'Message to the gateway failed');
      this.terminate();
    } finally {
      bodies.give(keyId, taken);
    }
  }
}

function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
