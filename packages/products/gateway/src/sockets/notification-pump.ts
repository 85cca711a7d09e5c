import type { Notifications } from '../subscriptions/subscription.ts';
import { type NotificationLine, NotificationQueue } from './notification-queue.ts';

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
