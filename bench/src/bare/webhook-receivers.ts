/**
 * Receivers of webhooks, each on a port of its own, that answer 200 without looking at what they get. The first port of the
 * report is for asking what came and for starting to count anew.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the program is told, as its one argument in JSON. */
export interface ReceiversPlan {
  /** How long each receiver takes to answer. Milliseconds. */
  readonly delaysMs: readonly number[];
}

/** What it says when it listens. */
export interface ReceiversReport {
  readonly control: string;
  readonly urls: readonly string[];
}

/** What came since counting began. */
export interface ReceivedCount {
  readonly webhooks: number;
  readonly bytes: number;
  /** Between the arrivals of the first and the last. */
  readonly seconds: number;
}

/** Longer than any client keeps an idle connection. */
const KEEP_ALIVE_MS = 65_000;

const plan = JSON.parse(process.argv[2] ?? '{}') as ReceiversPlan;
let webhooks = 0;
let bytes = 0;
let firstAt = 0;
let lastAt = 0;

const control = await listen((request, response) => {
  const count: ReceivedCount = { webhooks, bytes, seconds: (lastAt - firstAt) / 1_000 };
  if (request.method === 'POST') webhooks = bytes = firstAt = lastAt = 0;
  response.end(JSON.stringify(count));
});
const urls = await Promise.all(plan.delaysMs.map((delayMs) => listen(receiving(delayMs))));
const report: ReceiversReport = { control, urls };
console.log(JSON.stringify(report));

function receiving(delayMs: number): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.once('end', () => {
      lastAt = performance.now();
      if (webhooks === 0) firstAt = lastAt;
      webhooks += 1;
      if (delayMs === 0) response.end();
      else void sleep(delayMs).then(() => response.end());
    });
  };
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server: Server = createServer(answer);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
