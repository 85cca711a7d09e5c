import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ListeningServer, listenOnLoopback } from './loopback-server.ts';

/** One webhook as it arrived. */
export interface ReceivedWebhook {
  readonly path: string;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** The exact text. */
  readonly body: string;
  /** Number of the connection, counted from 1: keep-alive shows as the same number again. */
  readonly connection: number;
  /** Milliseconds since the epoch, when it had arrived whole. */
  readonly receivedAt: number;
}

/** How a webhook is answered. */
export interface WebhookAnswer {
  /** Default 200. `hang`: never. `reset`: the connection breaks. */
  readonly status?: number | 'hang' | 'reset';
  /** Before the answer. Default 0. */
  readonly delayMs?: number;
  /** It is answered once this resolves. Default: at once. */
  readonly until?: Promise<void>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface WebhookReceiverOptions {
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** Default: 200 at once. */
  readonly answer?: (webhook: ReceivedWebhook, count: number) => WebhookAnswer;
}

/** A receiver of webhooks over HTTP on 127.0.0.1, which keeps what it gets. */
export interface WebhookReceiver extends ListeningServer {
  /** In the order of arrival, whatever they were answered. */
  readonly received: readonly ReceivedWebhook[];
  /** Those whose answer has not been sent yet. */
  readonly open: number;
  /** The most that were ever open at once. */
  readonly openMax: number;
  /** From the next webhook on. `count` is the webhook's number, from 1. */
  answerWith(answer: (webhook: ReceivedWebhook, count: number) => WebhookAnswer): void;
  /** Resolves when so many have arrived in all. */
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
    const webhook = { path, headers, body: await readText(request), connection, receivedAt: Date.now() };
    received.push(webhook);
    for (const waiter of waiting) if (received.length >= waiter.count) waiter.resolve();
    await send(response, answer(webhook, received.length));
  }

  const server = createServer((request, response) => {
    // A sender that gives up is no fault of the receiver.
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

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
