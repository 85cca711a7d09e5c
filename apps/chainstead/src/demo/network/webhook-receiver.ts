import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ListeningServer, listenOnLoopback } from './loopback-server.ts';

export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Counted from 1. Keep-alive repeats it. */
  readonly connection: number;
  /** Milliseconds since the epoch, when complete. */
  readonly receivedAt: number;
}

interface WebhookAnswer {
  /** @default 200. `hang`: never. `reset`: the connection breaks. */
  readonly status?: number | 'hang' | 'reset';
  readonly delayMs?: number;
  readonly until?: Promise<void>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface WebhookReceiverOptions {
  readonly port?: number;
  readonly answer?: (webhook: ReceivedWebhook, count: number) => WebhookAnswer;
}

export interface WebhookReceiver extends ListeningServer {
  readonly received: readonly ReceivedWebhook[];
  readonly open: number;
  readonly openMax: number;
  answerWith(answer: (webhook: ReceivedWebhook, count: number) => WebhookAnswer): void;
  arrived(count: number): Promise<void>;
}

export async function startWebhookReceiver(options: WebhookReceiverOptions = {}): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const waiting: { readonly count: number; resolve(): void }[] = [];
  const connections = new WeakMap<object, number>();
  let connectionCount = 0;
  let answer = options.answer ?? (() => ({}));
  let open = 0;
  let openMax = 0;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    open += 1;
    openMax = Math.max(openMax, open);
    response.once('close', () => {
      open -= 1;
    });
    const connection = connections.get(request.socket) ?? ++connectionCount;
    connections.set(request.socket, connection);
    const { headers, url: path = '/' } = request;
    const webhook = { path, headers, body: await text(request), connection, receivedAt: Date.now() };
    received.push(webhook);
    for (const waiter of waiting) if (received.length >= waiter.count) waiter.resolve();
    await send(response, answer(webhook, received.length));
  }

  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  const listening = await listenOnLoopback(server, options.port ?? 0);
  return {
    ...listening,
    received,
    get open() {
      return open;
    },
    get openMax() {
      return openMax;
    },
    answerWith(next) {
      answer = next;
    },
    arrived(count) {
      if (received.length >= count) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ count, resolve }));
    },
  };
}

async function send(response: ServerResponse, answer: WebhookAnswer): Promise<void> {
  const { status = 200, delayMs = 0, until, headers = {}, body = '' } = answer;
  if (delayMs > 0) await sleep(delayMs);
  await until;
  if (status === 'hang') return;
  if (status === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  response.writeHead(status, headers);
  response.end(body);
}
