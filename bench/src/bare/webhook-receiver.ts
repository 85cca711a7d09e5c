/** A webhook receiver that returns 200 without reading the bodies. A second port reports the count and resets it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Printed as one JSON line when both ports are open. */
export interface ReceiverReport {
  readonly control: string;
  readonly url: string;
}

/** Arrivals since the last reset. */
export interface ReceivedCount {
  readonly webhooks: number;
  readonly bytes: number;
  /** Between the arrivals of the first and the last. */
  readonly seconds: number;
}

/** Longer than any client keeps an idle connection. */
const KEEP_ALIVE_MS = 65_000;

let webhooks = 0;
let bytes = 0;
let firstAt = 0;
let lastAt = 0;

const control = await listen((request, response) => {
  const count: ReceivedCount = { webhooks, bytes, seconds: (lastAt - firstAt) / 1_000 };
  if (request.method === 'POST') webhooks = bytes = firstAt = lastAt = 0;
  response.end(JSON.stringify(count));
});
const report: ReceiverReport = { control, url: await listen(receive) };
console.log(JSON.stringify(report));

function receive(request: IncomingMessage, response: ServerResponse): void {
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.once('end', () => {
    lastAt = performance.now();
    if (webhooks === 0) firstAt = lastAt;
    webhooks += 1;
    response.end();
  });
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server: Server = createServer(handle);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
