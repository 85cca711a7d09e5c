/** Many receivers of one key, next to one of another key. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type Database, sql, statementOf } from '@chainstead/db';
import { startWebhookReceiver } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterEach, expect, test } from 'vitest';
import { addMatches, addStream, readOutbox, startStagedWorker } from './testing/delivery-stage.ts';

const CONCURRENCY = 40;
const LANES = CONCURRENCY / 2;

const scratch = scratchOfFile();
const parts: AsyncDisposableStack[] = [];

afterEach(async () => {
  for (const stack of parts.splice(0)) await stack.disposeAsync();
  await scratch.database.query(sql`TRUNCATE streams, stream_deliveries, stream_attempts`);
});

/** Accepts connections on all loopback addresses, which are different hosts for webhooks. */
async function startSilentHosts(stack: AsyncDisposableStack): Promise<{ port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  stack.defer(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('A listening TCP server has no port');
  return { port: address.port, sockets };
}

async function addSilentStreams(port: number, createdBy: string, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    const webhookUrl = `http://127.0.${createdBy.length}.${number}:${port}/`;
    const streamId = await addStream(scratch.database, { webhookUrl, createdBy });
    await addMatches(scratch.database, streamId, { blocks: [1, 2] });
  }
}

const HOSTS = Array.from({ length: 33 }, (_, index) => index + 1);

test.each([
  ['one other key', ['a']],
  ['three other keys', ['a', 'bb', 'ccc']],
])('webhooks arrive while all receivers of %s are silent, before any of these times out', async (_name, keys) => {
  const stack = new AsyncDisposableStack();
  parts.push(stack);
  const { port, sockets } = await startSilentHosts(stack);
  for (const key of keys) await addSilentStreams(port, key, HOSTS);
  const receiver = await startWebhookReceiver({});
  stack.defer(() => receiver.close());
  stack.use(await startStagedWorker(scratch.database, { concurrency: CONCURRENCY, closeMs: 0 }));
  const shareOfAll = Math.floor(LANES / (keys.length + 1)) * keys.length;
  await expect.poll(() => sockets.size, { timeout: 10_000 }).toBeGreaterThanOrEqual(shareOfAll);
  const streamId = await addStream(scratch.database, { webhookUrl: receiver.url, createdBy: 'good' });
  const blocks = Array.from({ length: 60 }, (_, index) => index);
  await addMatches(scratch.database, streamId, { blocks });
  await expect
    .poll(
      async () =>
        (await readOutbox(scratch.database, streamId)).filter(({ status }) => status === 'delivered').length,
      { timeout: 14_000 },
    )
    .toBe(60);
  expect(receiver.received).toHaveLength(60);
  const attempts = await scratch.database.query(sql`SELECT FROM stream_attempts WHERE stream_id <> ${streamId}`);
  expect(attempts).toEqual([]);
});

// Invariant: FAIR-KEYS
test('the first host of a key goes before the second one of another key', async () => {
  const stack = new AsyncDisposableStack();
  parts.push(stack);
  const receiver = await startWebhookReceiver({});
  stack.defer(() => receiver.close());
  const { port } = await startSilentHosts(stack);
  await addSilentStreams(port, 'a', HOSTS);
  const streamId = await addStream(scratch.database, { webhookUrl: receiver.url, createdBy: 'good' });
  await addMatches(scratch.database, streamId, { blocks: [1] });
  const taken: string[] = [];
  const database: Database = {
    ...scratch.database,
    query(statement) {
      const { text, values } = statementOf(statement);
      if (text.includes('INSERT INTO webhook_host_leases')) taken.push(String(values[0]));
      return scratch.database.query(statement);
    },
  };
  stack.use(await startStagedWorker(database, { concurrency: CONCURRENCY, closeMs: 0 }));
  await expect.poll(() => taken.length).toBeGreaterThan(1);
  expect(taken.slice(0, 2)).toContain(new URL(receiver.url).origin);
});
