import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Outbox } from './outbox.ts';

async function openOutbox(): Promise<{ readonly outbox: Outbox; readonly received: readonly string[] }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const connected = once(server, 'connection');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const received: string[] = [];
  client.on('message', (data) => received.push(String(data)));
  onTestFinished(() => {
    client.terminate();
    server.close();
  });
  const [socket] = (await connected) as [WebSocket];
  return { outbox: new Outbox(socket, { stallMs: 30_000, onTaken: () => undefined }), received };
}

test('parts arrive as one message, also if they waited for the end of a stream', async () => {
  const { outbox, received } = await openOutbox();
  outbox.send('a', Buffer.from('b'), 'c');
  const rest = Promise.withResolvers<void>();
  async function* pieces(): AsyncGenerator<string> {
    yield 'first ';
    await rest.promise;
    yield 'last';
  }
  const streamed = outbox.stream(pieces());
  await expect.poll(() => received).toEqual(['abc']);
  outbox.send('d', Buffer.from('e'));
  outbox.send('f');
  rest.resolve();
  await streamed;
  await expect.poll(() => received).toEqual(['abc', 'first last', 'de', 'f']);
});
