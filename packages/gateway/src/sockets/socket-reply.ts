import type { AnswerPart, Reply } from '../serving/reply.ts';
import type { Subscriber } from '../subscriptions/client-subscriptions.ts';
import type { Outbox } from './outbox.ts';

export interface SocketReplyOptions {
  readonly keyId: string;
  readonly subscriber: Subscriber;
  readonly outbox: Outbox;
  /** Whom to tell when the socket closes. */
  readonly gone: Set<() => void>;
}

/** The answer to one message of a socket: a message too, or none. */
export class SocketReply implements Reply {
  readonly keyId: string;
  readonly subscriber: Subscriber;
  readonly #outbox: Outbox;
  readonly #gone: Set<() => void>;

  constructor(options: SocketReplyOptions) {
    this.keyId = options.keyId;
    this.subscriber = options.subscriber;
    this.#outbox = options.outbox;
    this.#gone = options.gone;
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
