import { WebSocket } from 'ws';
import type { AnswerPart } from '../serving/exchange.ts';

export interface OutboxOptions {
  readonly onTaken: () => void;
  readonly stallMs: number;
}

const DRAINED_BYTES = 262_144;

/** A message may have several frames: none may come between, so others wait behind a stream. */
export class Outbox {
  readonly #socket: WebSocket;
  readonly #options: OutboxOptions;
  #isStreaming = false;
  #streams: Promise<void> = Promise.resolve();
  readonly #queue: (readonly (string | Buffer)[])[] = [];
  #queuedBytes = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(socket: WebSocket, options: OutboxOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.once('close', () => this.#wake());
  }

  get bufferedBytes(): number {
    return this.#queuedBytes + this.#socket.bufferedAmount;
  }

  /** @param parts of one message, each sent without a copy */
  send(...parts: readonly (string | Buffer)[]): void {
    if (!this.#isStreaming) {
      this.#writeAll(parts);
      return;
    }
    this.#queue.push(parts);
    for (const { length } of parts) this.#queuedBytes += length;
  }

  /** At the client's pace. @throws SocketGoneError, or the error of the iteration */
  async stream(parts: AsyncIterable<AnswerPart>): Promise<void> {
    const before = this.#streams;
    const turn = Promise.withResolvers<void>();
    this.#streams = turn.promise;
    await before;
    this.#isStreaming = true;
    try {
      for await (const part of parts) {
        if (typeof part === 'string' || Buffer.isBuffer(part)) await this.#writePiece(part);
        else for await (const piece of part) await this.#writePiece(piece);
      }
      this.#write('');
    } catch (error) {
      // A truncated response must not look complete.
      this.#socket.terminate();
      throw error;
    } finally {
      this.#isStreaming = false;
      for (const parts of this.#queue.splice(0)) this.#writeAll(parts);
      this.#queuedBytes = 0;
      turn.resolve();
    }
  }

  /** Terminates clients that read nothing for too long. */
  async drained(): Promise<void> {
    while (this.bufferedBytes > DRAINED_BYTES && this.#socket.readyState === WebSocket.OPEN)
      await this.#progress();
  }

  async #writePiece(piece: string | Buffer): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) throw new SocketGoneError();
    this.#write(piece, { fin: false });
    await this.drained();
  }

  #writeAll(parts: readonly (string | Buffer)[]): void {
    for (const [index, part] of parts.entries()) this.#write(part, { fin: index === parts.length - 1 });
  }

  #write(data: string | Buffer, { fin } = { fin: true }): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.send(data, { binary: false, fin }, () => this.#wake());
  }

  async #progress(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const stalled = setTimeout(() => this.#socket.terminate(), this.#options.stallMs);
    try {
      await promise;
    } finally {
      clearTimeout(stalled);
    }
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
    this.#options.onTaken();
  }
}

/** The client closed the connection before it had its response, or stopped reading it. */
export class SocketGoneError extends Error {
  constructor() {
    super('The client closed the WebSocket');
    this.name = 'SocketGoneError';
  }
}
