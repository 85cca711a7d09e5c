import type { IncomingHttpHeaders } from 'node:http';
import type { SocketConnection } from './socket-connection.ts';

export interface OpenedBy {
  readonly headers: IncomingHttpHeaders;
  readonly key: string;
  readonly keyId: string;
}

const CLOSE_POLL_MS = 20;

export class OpenSockets {
  readonly #sockets = new Map<SocketConnection, OpenedBy>();
  readonly #byKey = new Map<string, number>();

  get size(): number {
    return this.#sockets.size;
  }

  countOf(keyId: string): number {
    return this.#byKey.get(keyId) ?? 0;
  }

  all(): Iterable<readonly [SocketConnection, OpenedBy]> {
    return this.#sockets;
  }

  add(connection: SocketConnection, by: OpenedBy): void {
    this.#sockets.set(connection, by);
    this.#byKey.set(by.keyId, this.countOf(by.keyId) + 1);
  }

  delete(connection: SocketConnection): void {
    const by = this.#sockets.get(connection);
    if (by === undefined) return;
    this.#sockets.delete(connection);
    const left = this.countOf(by.keyId) - 1;
    if (left > 0) this.#byKey.set(by.keyId, left);
    else this.#byKey.delete(by.keyId);
  }

  async end(deadlineMs: number): Promise<void> {
    for (const connection of this.#sockets.keys()) connection.end();
    const deadline = setTimeout(() => {
      for (const connection of this.#sockets.keys()) connection.terminate();
    }, deadlineMs);
    while (this.size > 0) await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
    clearTimeout(deadline);
  }
}
