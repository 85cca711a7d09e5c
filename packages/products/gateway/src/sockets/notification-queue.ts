import type { Notifications, SharedText } from '../subscriptions/subscription.ts';

export interface NotificationLine {
  readonly keyId: string;
  hasRoom(): boolean;
  /** Parts of one message. */
  write(parts: readonly SharedText[]): void;
  cutOff(): void;
}

const TURN_LENGTH = 65_536;
/** Blocks in a row: few of their logs may match. */
const TURN_ENTRIES = 16;
const DROPPED_AT_ONCE = 1_024;

/** In order. Texts are written when the client can take them. */
export class NotificationQueue {
  readonly #line: NotificationLine;
  readonly #count: (change: number) => void;
  #entries: { readonly notifications: Notifications; readonly sharedBytes: number }[] = [];
  #first = 0;
  #bytes = 0;
  #sharedBytes = 0;

  constructor(line: NotificationLine, count: (change: number) => void) {
    this.#line = line;
    this.#count = count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get heldBytes(): number {
    return this.#bytes + this.#sharedBytes;
  }

  get isReady(): boolean {
    return this.#first < this.#entries.length && this.#line.hasRoom();
  }

  push(notifications: Notifications): void {
    const { shared, bytes } = notifications;
    // All subscriptions of a client share a block.
    const sharedBytes = this.#entries.at(-1)?.notifications.shared === shared ? 0 : shared.bytes;
    this.#entries.push({ notifications, sharedBytes });
    this.#sharedBytes += sharedBytes;
    this.#change(bytes);
  }

  write(): void {
    let length = 0;
    let gone = 0;
    while (length < TURN_LENGTH && gone < TURN_ENTRIES && this.isReady) {
      const parts = this.#entries[this.#first]?.notifications.next() ?? null;
      if (parts === null) {
        this.#dropFirst();
        gone += 1;
      } else {
        this.#line.write(parts);
        length += lengthOf(parts);
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

export function lengthOf(parts: readonly SharedText[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}
