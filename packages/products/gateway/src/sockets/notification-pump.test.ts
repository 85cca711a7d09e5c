import { expect, test } from 'vitest';
import type { Notifications, SharedTexts } from '../subscriptions/log-criteria.ts';
import { type NotificationBounds, NotificationPump, type NotificationQueue } from './notification-pump.ts';

const BOUNDS: NotificationBounds = {
  socketBytesMax: 1_000_000,
  keyBytesMax: 1_000_000,
  processBytesMax: 1_000_000,
};
const WAITING_BYTES = 500;
const BLOCK: SharedTexts = { bytes: 100_000 };

/** A client that accepts a limited number of texts at a time, and records the texts written to it. */
class Client {
  readonly queue: NotificationQueue;
  room: number;
  written = 0;
  isCutOff = false;

  constructor(
    pump: NotificationPump,
    {
      room,
      keyId = 'key',
      name = '',
      order = [],
    }: { room: number; keyId?: string; name?: string; order?: string[] },
  ) {
    this.room = room;
    this.queue = pump.open({
      keyId,
      hasRoom: () => this.room > 0,
      write: () => {
        this.room -= 1;
        this.written += 1;
        order.push(name);
      },
      cutOff: () => {
        this.isCutOff = true;
      },
    });
  }
}

/** @param made counts the created texts */
function notifications(texts: number, made = { count: 0 }, shared: SharedTexts = BLOCK): Notifications {
  let left = texts;
  return {
    bytes: WAITING_BYTES,
    shared,
    next() {
      if (left === 0) return null;
      left -= 1;
      made.count += 1;
      return ['x'.repeat(1_000)];
    },
  };
}

async function idle(...clients: readonly Client[]): Promise<void> {
  while (clients.some(({ queue }) => queue.isReady)) await new Promise(setImmediate);
}

test('texts are made when a client has room for them, and what waits takes as little for a thousand as for one', async () => {
  const pump = new NotificationPump(BOUNDS);
  const made = { count: 0 };
  const client = new Client(pump, { room: 10 });
  for (let subscription = 0; subscription < 100; subscription += 1)
    pump.push(client.queue, notifications(1_000, made));
  await idle(client);
  expect([made.count, client.written]).toEqual([10, 10]);
  expect([client.queue.bytes, client.queue.heldBytes, pump.bytes]).toEqual([50_000, 150_000, 50_000]);
  client.room = 99_990;
  pump.resume(client.queue);
  await idle(client);
  expect([made.count, pump.bytes]).toEqual([100_000, WAITING_BYTES]);
  client.room = 1;
  pump.resume(client.queue);
  await idle(client);
  expect([pump.bytes, client.queue.heldBytes, client.written]).toEqual([0, 0, 100_000]);
});

test('sockets have turns of 64 KiB, between which the process does other work', async () => {
  const pump = new NotificationPump(BOUNDS);
  const order: string[] = [];
  const clients = ['a', 'b'].map((name) => new Client(pump, { room: 1_000, name, order }));
  let other = 0;
  for (const { queue } of clients) pump.push(queue, notifications(200));
  while (clients.some(({ queue }) => queue.isReady)) {
    await new Promise(setImmediate);
    other += 1;
  }
  const turns = order.filter((name, place) => name !== order[place - 1]);
  expect(turns.join('')).toBe('abababab');
  expect(other).toBeGreaterThanOrEqual(turns.length - 1);
  expect(clients.map(({ written }) => written)).toEqual([200, 200]);
});

test('a client that takes nothing is cut off where too much waits for it, blocks that it holds included', () => {
  const pump = new NotificationPump({ ...BOUNDS, socketBytesMax: 250_000 });
  const [slow, quick] = [new Client(pump, { room: 0 }), new Client(pump, { room: 1 })];
  for (let block = 0; block < 3; block += 1) {
    expect(slow.isCutOff).toBe(false);
    const shared = { bytes: 100_000 };
    for (const { queue } of [slow, quick]) pump.push(queue, notifications(1, undefined, shared));
  }
  // The other client waits for this process, which had no time yet.
  expect([slow.isCutOff, quick.isCutOff]).toEqual([true, false]);
  expect(pump.bytes).toBe(3 * WAITING_BYTES);
});

test('where too much waits for a key or the process, the client for which most waits is cut off', () => {
  const pump = new NotificationPump({ ...BOUNDS, keyBytesMax: 5_000, processBytesMax: 8_000 });
  const [small, large] = [new Client(pump, { room: 1 }), new Client(pump, { room: 1 })];
  const others = ['b', 'c'].map((keyId) => new Client(pump, { room: 1, keyId }));
  const push = ({ queue }: Client, times: number): void => {
    for (let time = 0; time < times; time += 1) pump.push(queue, notifications(1));
  };
  push(large, 7);
  push(small, 3);
  expect([small.isCutOff, large.isCutOff]).toEqual([false, false]);
  push(small, 1);
  expect([small.isCutOff, large.isCutOff]).toEqual([false, true]);
  for (const other of others) push(other, 7);
  expect(others.map(({ isCutOff }) => isCutOff)).toEqual([true, false]);
  // Notifications for a closed socket are dropped.
  push(large, 1);
  expect(pump.bytes).toBe(11 * WAITING_BYTES);
});
