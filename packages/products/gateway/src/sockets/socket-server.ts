import { type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorText, type Logger, type Registry } from '@chainstead/core';
import { answerTo } from '@chainstead/http';
import type { ByteBudget, KeyStore, RawGate, UpgradeHandler } from '@chainstead/http/server';
import { WebSocketServer } from 'ws';
import { createGatewayMetrics } from '../gateway-metrics.ts';
import { type Admission, authorize, OPEN_KEY_ID, ROUTE } from '../serving/exchange.ts';
import type { ServedChain } from '../serving/open-scope.ts';
import type { ServeBody } from '../serving/serve-body.ts';
import { splitPath } from '../serving/split-path.ts';
import { createClientSubscriptions } from '../subscriptions/client-subscriptions.ts';
import type { ChainFeeds } from '../subscriptions/pending-feed.ts';
import type { UsageCounter } from '../usage/usage-counter.ts';
import { NotificationPump } from './notification-pump.ts';
import { SocketConnection } from './socket-connection.ts';

export interface SocketLimits {
  readonly socketsMax: number;
  readonly socketsPerKey: number;
  /** Pending notifications of a client that does not read. @default 4 MiB */
  readonly bufferBytesMax?: number;
  /** @default 100 */
  readonly subscriptionsMax?: number;
  /** A client must respond before the next ping. @default 20000 */
  readonly pingIntervalMs?: number;
}

export interface SocketServerOptions {
  readonly chains: ReadonlyMap<string, ServedChain>;
  readonly gate: RawGate;
  readonly keys: KeyStore;
  readonly serveBody: ServeBody;
  readonly feeds: ChainFeeds;
  readonly usage: UsageCounter;
  readonly bodies: ByteBudget;
  readonly bodyBytesMax: number;
  readonly limits: SocketLimits;
  readonly logger: Logger;
  readonly metrics: Registry;
}

const MESSAGE_BYTES_MAX = 1_048_576;
/** Pending notifications, without shared texts. */
const KEY_BYTES_MAX = 16_777_216;
const PROCESS_BYTES_MAX = 67_108_864;
const NOTIFICATION = 'eth_subscription';

interface Request {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly served: ServedChain;
  readonly key: string;
  readonly requestId: string;
  readonly startedAt: number;
}

/** Paths and rules as for JSON-RPC POSTs. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: connections, limits and the closing of all share one list.
export function createSocketServer(options: SocketServerOptions): UpgradeHandler {
  const { chains, gate, limits, logger, usage } = options;
  const { bufferBytesMax = 4_194_304, subscriptionsMax = 100, pingIntervalMs = 20_000 } = limits;
  const metrics = createGatewayMetrics(options.metrics);
  const open = new OpenSockets();
  const pump = new NotificationPump({
    socketBytesMax: bufferBytesMax,
    keyBytesMax: KEY_BYTES_MAX,
    processBytesMax: PROCESS_BYTES_MAX,
  });
  const acceptor = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: Math.min(options.bodyBytesMax, MESSAGE_BYTES_MAX),
  });
  let isClosing = false;

  function answered({ incoming, requestId, startedAt }: Request, status: number, keyId: string): void {
    gate.log({
      requestId,
      method: incoming.method ?? 'GET',
      route: ROUTE,
      status,
      durationMs: performance.now() - startedAt,
      keyId: keyId === OPEN_KEY_ID ? undefined : keyId,
    });
  }

  function refuse(request: Request, status: number, message: string, keyId = OPEN_KEY_ID): void {
    metrics.socketsRefused.inc({ status });
    refuseUpgrade(request.socket, { status, message, requestId: request.requestId });
    answered(request, status, keyId);
  }

  function obstacle({ incoming }: Request, { keyId, cors }: Admission): Admission['refusal'] {
    // Pages can open WebSockets to any host without a preflight request.
    if (incoming.headers.origin !== undefined && !cors.includes(ALLOWS_ORIGIN))
      return { status: 403, message: 'Origin is not one of CORS_ORIGINS' };
    if (isClosing || open.size >= limits.socketsMax)
      return { status: 503, message: 'Too many WebSockets are open: try again later' };
    if (open.countOf(keyId) < limits.socketsPerKey) return null;
    return { status: 429, message: `A key may have ${limits.socketsPerKey} WebSockets open` };
  }

  function admit(request: Request, admission: Admission): void {
    const { keyId } = admission;
    const { incoming, socket, head } = request;
    const refusal = admission.refusal ?? obstacle(request, admission);
    if (refusal !== null) {
      refuse(request, refusal.status, refusal.message, keyId);
      return;
    }
    acceptor.handleUpgrade(incoming, socket, head, (webSocket) => {
      answered(request, 101, keyId);
      const { served, key } = request;
      const { chain } = served;
      const { slug } = chain;
      const connection = new SocketConnection({
        socket: webSocket,
        served,
        keyId,
        serveBody: options.serveBody,
        bodies: options.bodies,
        openSubscriptions: (report) =>
          createClientSubscriptions({
            chain,
            sources: options.feeds.of(chain),
            metrics,
            subscriptionsMax,
            report,
          }),
        pump,
        onNotified(length) {
          const entry = usage.entry(keyId, chain.chain.id, NOTIFICATION);
          entry.calls += 1;
          entry.bytes += length;
        },
        logger,
        onClose() {
          open.delete(connection);
          metrics.sockets.dec({ chain: slug });
        },
        onEnded: (reason) => metrics.socketsEnded.inc({ chain: slug, reason }),
      });
      open.add(connection, { headers: incoming.headers, key, keyId });
      metrics.sockets.inc({ chain: slug });
    });
  }

  /** Pings, and closes sockets whose key was revoked or restricted. */
  async function checkAll(): Promise<void> {
    for (const [connection, { headers, key, keyId }] of open.all()) {
      connection.ping();
      try {
        const { refusal, keyId: now } = await authorize(headers, key, options);
        if (refusal !== null || now !== keyId) connection.revoke();
      } catch (error) {
        logger.debug({ error: errorText(error) }, 'Key of a WebSocket not checked');
      }
    }
  }

  const pings = setInterval(() => void checkAll(), pingIntervalMs).unref();

  return {
    takes(incoming) {
      if (incoming.headers.upgrade?.toLowerCase() !== 'websocket') return false;
      const { slug, rest } = splitPath(incoming.url ?? '/');
      return incoming.method === 'GET' && rest !== '' && chains.has(slug);
    },
    upgrade(incoming, socket, head) {
      const { slug, rest } = splitPath(incoming.url ?? '/');
      const served = chains.get(slug);
      socket.on('error', (error) => {
        logger.debug({ error: errorText(error) }, 'Connection of a WebSocket failed');
        socket.destroy();
      });
      if (served === undefined) {
        socket.destroy();
        return;
      }
      const requestId = gate.requestId(incoming.headers);
      const request = { incoming, socket, head, served, key: rest, requestId, startedAt: performance.now() };
      const admission = authorize(incoming.headers, rest, options);
      if (!(admission instanceof Promise)) {
        admit(request, admission);
        return;
      }
      admission.then(
        (admitted) => admit(request, admitted),
        (error: unknown) => {
          const { status, message } = answerTo(error);
          if (status === 500)
            logger.error({ request_id: requestId, error: errorText(error) }, 'Request for a WebSocket failed');
          refuse(request, status, message);
        },
      );
    },
    async close(deadlineMs) {
      isClosing = true;
      clearInterval(pings);
      await open.end(deadlineMs);
    },
  };
}

const ALLOWS_ORIGIN = 'access-control-allow-origin';

function refuseUpgrade(
  socket: Duplex,
  refusal: { readonly status: number; readonly message: string; readonly requestId: string },
): void {
  const { status, message, requestId } = refusal;
  const body = JSON.stringify({ message });
  const retry = status === 429 || status === 503 ? 'retry-after: 5\r\n' : '';
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n${retry}` +
      `x-request-id: ${requestId}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

interface OpenedBy {
  readonly headers: IncomingHttpHeaders;
  readonly key: string;
  readonly keyId: string;
}

const CLOSE_POLL_MS = 20;

class OpenSockets {
  readonly #sockets = new Map<SocketConnection, OpenedBy>();
  readonly #byKey = new Map<string, number>();

  get size(): number {
    return this.#sockets.size;
  }

  countOf(keyId: string): number {
    return this.#byKey.get(keyId) ?? 0;
  }

  all(): Iterable<readonly [SocketConnection, OpenedBy]> {
    return this.#sockets;
  }

  add(connection: SocketConnection, by: OpenedBy): void {
    this.#sockets.set(connection, by);
    this.#byKey.set(by.keyId, this.countOf(by.keyId) + 1);
  }

  delete(connection: SocketConnection): void {
    const by = this.#sockets.get(connection);
    if (by === undefined) return;
    this.#sockets.delete(connection);
    const left = this.countOf(by.keyId) - 1;
    if (left > 0) this.#byKey.set(by.keyId, left);
    else this.#byKey.delete(by.keyId);
  }

  async end(deadlineMs: number): Promise<void> {
    for (const connection of this.#sockets.keys()) connection.end();
    const deadline = setTimeout(() => {
      for (const connection of this.#sockets.keys()) connection.terminate();
    }, deadlineMs);
    while (this.size > 0) await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
    clearTimeout(deadline);
  }
}
