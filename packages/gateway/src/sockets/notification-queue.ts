import type { Notifications } from '../subscriptions/subscription.ts';

/** A client's socket, as the pump uses it. */
export interface NotificationLine {
  /** Principal's id. */
  readonly keyId: string;
  /** Whether its client has taken most of what was written. */
  hasRoom(): boolean;
  write(text: string): void;
  /** Ends the socket: too much waits for its client. */
  cutOff(): void;
}

/** What is written in a row, before other sockets have their turn. Characters. */
const TURN_LENGTH = 65_536;
/** Blocks of subscriptions that are gone through in a row: few of their logs may be wanted. */
const TURN_ENTRIES = 16;
/** Entries that were written are dropped from the list in pieces of this many. */
const DROPPED_AT_ONCE = 1_024;

/** What one client is to be told, in order. Its texts are written when there is room for them. */
export class NotificationQueue {
  readonly #line: NotificationLine;
  readonly #count: (change: number) => void;
  #entries: { readonly notifications: Notifications; readonly sharedBytes: number }[] = [];
  #first = 0;
  #bytes = 0;
  #sharedBytes = 0;

  /** @param count is told how many bytes more, or fewer, wait */
  constructor(line: NotificationLine, count: (change: number) => void) {
    this.#line = line;
    this.#count = count;
  }

  /** What waits, without what clients share. Bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** With the blocks that are kept for it. Bytes. */
  get heldBytes(): number {
    return this.#bytes + this.#sharedBytes;
  }

  /** Whether something waits that can be written. */
  get isReady(): boolean {
    return this.#first < this.#entries.length && this.#line.hasRoom();
  }

  push(notifications: Notifications): void {
    const { shared, bytes } = notifications;
    // All subscriptions of a client hold a block together.
    const sharedBytes = this.#entries.at(-1)?.notifications.shared === shared ? 0 : shared.bytes;
    this.#entries.push({ notifications, sharedBytes });
    this.#sharedBytes += sharedBytes;
    this.#change(bytes);
  }

  /** Writes for as long as there is room, but no longer than a turn. */
  write(): void {
    let length = 0;
    let gone = 0;
    while (length < TURN_LENGTH && gone < TURN_ENTRIES && this.isReady) {
      const text = this.#entries[this.#first]?.notifications.next() ?? null;
      if (text === null) {
        this.#dropFirst();
        gone += 1;
      } else {
        this.#line.write(text);
        length += text.length;
      }
    }
  }

  clear(): void {
    this.#entries = [];
    this.#first = 0;
    this.#sharedBytes = 0;
    this.#change(-this.#bytes);
  }

  #dropFirst(): void {
    const entry = this.#entries[this.#first];
    if (entry === undefined) return;
    this.#first += 1;
    this.#sharedBytes -= entry.sharedBytes;
    this.#change(-entry.notifications.bytes);
    if (this.#first === this.#entries.length || this.#first >= DROPPED_AT_ONCE) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }

  #change(bytes: number): void {
    this.#bytes += bytes;
    this.#count(bytes);
  }
}
