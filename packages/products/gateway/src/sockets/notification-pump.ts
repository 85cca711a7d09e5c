import type { Notifications, SharedText } from '../subscriptions/log-criteria.ts';

/** Pending bytes, without texts that clients share. */
export interface NotificationBounds {
  readonly socketBytesMax: number;
  readonly keyBytesMax: number;
  readonly processBytesMax: number;
}

/** Sockets take turns. Above a budget, the one with the most pending bytes is closed. */
export class NotificationPump {
  readonly #bounds: NotificationBounds;
  readonly #open = new Map<NotificationQueue, NotificationLine>();
  readonly #bytesOfKey = new Map<string, number>();
  readonly #ready = new Set<NotificationQueue>();
  #bytes = 0;
  #isScheduled = false;

  constructor(bounds: NotificationBounds) {
    this.#bounds = bounds;
  }

  get bytes(): number {
    return this.#bytes;
  }

  open(line: NotificationLine): NotificationQueue {
    const queue = new NotificationQueue(line, (change) => this.#count(line.keyId, change));
    this.#open.set(queue, line);
    return queue;
  }

  push(queue: NotificationQueue, notifications: Notifications): void {
    const line = this.#open.get(queue);
    if (line === undefined) return;
    queue.push(notifications);
    // A client that reads everything is not at fault.
    if (queue.heldBytes > this.#bounds.socketBytesMax && !line.hasRoom()) this.#cutOff(queue);
    while ((this.#bytesOfKey.get(line.keyId) ?? 0) > this.#bounds.keyBytesMax) this.#cutOffSlowest(line.keyId);
    while (this.#bytes > this.#bounds.processBytesMax) this.#cutOffSlowest(null);
    this.resume(queue);
  }

  resume(queue: NotificationQueue): void {
    if (!this.#open.has(queue) || !queue.isReady) return;
    this.#ready.add(queue);
    this.#schedule();
  }

  close(queue: NotificationQueue): void {
    this.#open.delete(queue);
    this.#ready.delete(queue);
    queue.clear();
  }

  #count(keyId: string, change: number): void {
    this.#bytes += change;
    const bytes = (this.#bytesOfKey.get(keyId) ?? 0) + change;
    if (bytes > 0) this.#bytesOfKey.set(keyId, bytes);
    else this.#bytesOfKey.delete(keyId);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#ready.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const [queue] = this.#ready;
      if (queue === undefined) return;
      this.#ready.delete(queue);
      queue.write();
      if (queue.isReady) this.#ready.add(queue);
      this.#schedule();
    });
  }

  #cutOffSlowest(keyId: string | null): void {
    let slowest: NotificationQueue | null = null;
    for (const [queue, line] of this.#open)
      if ((keyId === null || line.keyId === keyId) && queue.bytes > (slowest?.bytes ?? 0)) slowest = queue;
    if (slowest !== null) this.#cutOff(slowest);
  }

  #cutOff(queue: NotificationQueue): void {
    const line = this.#open.get(queue);
    this.close(queue);
    line?.cutOff();
  }
}

interface NotificationLine {
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
