import { errorText, JsonBoundsError, type Logger } from '@chainstead/core';
import { type ByteBudget, bytesOfValues } from '@chainstead/http/server';
import type { RawData, WebSocket } from 'ws';
import { measureBody } from '../protocol/read-requests.ts';
import {
  errorText as errorAnswer,
  invalidRequest,
  type RpcErrorObject,
  TOO_MANY_BODIES,
} from '../protocol/rpc-errors.ts';
import type { AnswerPart, Reply } from '../serving/exchange.ts';
import type { ServedChain } from '../serving/open-scope.ts';
import type { ServeBody } from '../serving/serve-body.ts';
import type { ClientSubscriptions, Subscriber } from '../subscriptions/client-subscriptions.ts';
import type { Notifications, SharedText } from '../subscriptions/log-criteria.ts';
import { lengthOf, type NotificationPump } from './notification-pump.ts';
import { Outbox, SocketGoneError } from './outbox.ts';

type EndReason = 'slow' | 'dead' | 'key' | 'shutdown';

export interface SocketConnectionOptions {
  readonly socket: WebSocket;
  readonly served: ServedChain;
  readonly keyId: string;
  readonly serveBody: ServeBody;
  readonly openSubscriptions: (report: (notifications: Notifications) => void) => ClientSubscriptions;
  readonly pump: NotificationPump;
  readonly onNotified: (length: number) => void;
  readonly bodies: ByteBudget;
  readonly logger: Logger;
  readonly onClose: () => void;
  readonly onEnded: (reason: EndReason) => void;
}

const MESSAGES_AT_ONCE = 16;
const STALL_MS = 30_000;
const CLOSE_TIMEOUT_MS = 2_000;
const GOING_AWAY = 1_001;
const POLICY = 1_008;
const TRY_AGAIN_LATER = 1_013;

const ROOM_BYTES = 65_536;

/** Each message is a JSON-RPC body, handled like a POST. */
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
      write: (parts) => this.#notify(parts),
      cutOff: () => {
        // The client gets the reason if it reads the earlier data.
        if (this.#cutOff('slow'))
          this.#close(TRY_AGAIN_LATER, 'Too many notifications wait: read faster, or subscribe to less');
      },
    });
    this.#subscriptions = options.openSubscriptions((notifications) => pump.push(queue, notifications));
    socket.on('message', (data) => this.#receive(toBuffer(data)));
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    // The close event follows each error.
    socket.on('error', (error) => options.logger.debug({ error: errorText(error) }, 'WebSocket failed'));
    socket.on('close', () => {
      this.#subscriptions.close();
      pump.close(queue);
      for (const report of this.#gone) report();
      this.#gone.clear();
      options.onClose();
    });
  }

  ping(): void {
    if (!this.#isAlive) {
      if (this.#cutOff('dead')) this.terminate();
      return;
    }
    this.#isAlive = false;
    this.#options.socket.ping();
  }

  revoke(): void {
    this.#options.onEnded('key');
    this.#options.socket.close(POLICY, 'Node Key not valid');
  }

  end(): void {
    this.#isEnding = true;
    this.#options.onEnded('shutdown');
    if (this.#underWay === 0) this.#goAway();
  }

  terminate(): void {
    this.#options.socket.terminate();
  }

  #notify(parts: readonly SharedText[]): void {
    this.#options.onNotified(lengthOf(parts));
    this.#outbox.send(...parts);
  }

  /** @returns false if it was cut off before */
  #cutOff(reason: EndReason): boolean {
    if (this.#isCutOff) return false;
    this.#isCutOff = true;
    this.#subscriptions.close();
    this.#options.onEnded(reason);
    return true;
  }

  #close(code: number, reason: string): void {
    const { socket } = this.#options;
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
  }

  #goAway(): void {
    this.#close(GOING_AWAY, 'Server is shutting down');
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

  /** Reserves budget. @returns bytes, or the error if there is no room */
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

  async #serve(body: Buffer): Promise<void> {
    const { serveBody, served, keyId, bodies, logger } = this.#options;
    const taken = this.#take(body);
    if (typeof taken !== 'number') {
      this.#outbox.send(errorAnswer('null', taken));
      await this.#outbox.drained();
      return;
    }
    const subscriber = this.#subscriptions.subscriberOfMessage();
    const reply = new SocketReply(keyId, subscriber, this.#outbox, this.#gone);
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

class SocketReply implements Reply {
  readonly keyId: string;
  readonly subscriber: Subscriber;
  readonly #outbox: Outbox;
  readonly #gone: Set<() => void>;

  constructor(keyId: string, subscriber: Subscriber, outbox: Outbox, gone: Set<() => void>) {
    this.keyId = keyId;
    this.subscriber = subscriber;
    this.#outbox = outbox;
    this.#gone = gone;
  }

  sendText(_status: number, text: string): void {
    if (text !== '') this.#outbox.send(text);
  }

  sendRefusal(_status: number, _message: string, rpcText: string): void {
    this.sendText(200, rpcText);
  }

  sendResult(head: string, result: Buffer, tail: string): void {
    this.sendParts([head, result, tail]);
  }

  sendParts(parts: readonly (string | Buffer)[]): void {
    this.#outbox.send(Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))));
  }

  sendStream(parts: AsyncIterable<AnswerPart>): Promise<void> {
    return this.#outbox.stream(parts);
  }

  onGone(listener: () => void): () => void {
    this.#gone.add(listener);
    return () => this.#gone.delete(listener);
  }
}
