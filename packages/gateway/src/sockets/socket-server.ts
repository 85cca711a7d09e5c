import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorText, type Logger, type Registry } from '@chainstead/core';
import { answerTo, type BodyBudget, type KeyStore, type RawGate, type UpgradeHandler } from '@chainstead/http';
import { WebSocketServer } from 'ws';
import type { ServedChain } from '../serving/answer-request.ts';
import { type Admission, authorize, OPEN_KEY_ID } from '../serving/authorize.ts';
import { ROUTE } from '../serving/exchange.ts';
import type { ServeBody } from '../serving/serve-body.ts';
import { splitPath } from '../serving/split-path.ts';
import type { ChainFeeds } from '../subscriptions/chain-feeds.ts';
import { type ClientSubscriptions, createClientSubscriptions } from '../subscriptions/client-subscriptions.ts';
import type { Notifications } from '../subscriptions/subscription.ts';
import { createSubscriptionMetrics } from '../subscriptions/subscription-metrics.ts';
import type { UsageCounter } from '../usage/usage-counter.ts';
import { NotificationPump } from './notification-pump.ts';
import { OpenSockets } from './open-sockets.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';
import { SocketConnection } from './socket-connection.ts';
import { createSocketMetrics } from './socket-metrics.ts';

/** How many sockets there may be, and what each may hold. */
export interface SocketLimits {
  /** Open at once, in this process. */
  readonly socketsMax: number;
  /** Of them, with one key. */
  readonly socketsPerKey: number;
  /** Notifications that may wait for a client that does not read. Bytes. @default 4 MiB */
  readonly bufferBytesMax?: number;
  /** Of one socket. @default 100 */
  readonly subscriptionsMax?: number;
  /** Milliseconds between pings; a client that answers none until the next is cut off. @default 20000 */
  readonly pingIntervalMs?: number;
}

export interface SocketServerOptions {
  /** By path segment. */
  readonly chains: ReadonlyMap<string, ServedChain>;
  readonly gate: RawGate;
  readonly keys: KeyStore;
  readonly serveBody: ServeBody;
  readonly feeds: ChainFeeds;
  readonly usage: UsageCounter;
  /** What messages may take until they are answered, all together. */
  readonly bodies: BodyBudget;
  /** Largest body of a POST, and so of a message. Bytes. */
  readonly bodyBytesMax: number;
  readonly limits: SocketLimits;
  readonly logger: Logger;
  readonly metrics: Registry;
}

/** Each socket may hold a message that has not arrived whole. */
const MESSAGE_BYTES_MAX = 1_048_576;
const BUFFER_BYTES_MAX = 4_194_304;
/** Notifications that may wait for all sockets of a key, and of the process, without the texts that they share. Bytes. */
const KEY_BYTES_MAX = 16_777_216;
const PROCESS_BYTES_MAX = 67_108_864;
const PING_INTERVAL_MS = 20_000;
const SUBSCRIPTIONS_MAX = 100;
/** As usage names what was sent without being asked for. */
const NOTIFICATION = 'eth_subscription';

/** A request on its way to a socket. */
interface Request {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly served: ServedChain;
  readonly key: string;
  readonly requestId: string;
  readonly startedAt: number;
}

/** Takes WebSockets at the paths of the JSON-RPC POSTs, under the same rules: who may not call may not connect. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: connections, limits and the closing of all share one list.
export function createSocketServer(options: SocketServerOptions): UpgradeHandler {
  const { chains, gate, limits, logger, usage } = options;
  const metrics = createSocketMetrics(options.metrics);
  const subscriptionMetrics = createSubscriptionMetrics(options.metrics);
  const open = new OpenSockets();
  const pump = new NotificationPump({
    socketBytesMax: limits.bufferBytesMax ?? BUFFER_BYTES_MAX,
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
    metrics.refused(status);
    refuseUpgrade(request.socket, { status, message, requestId: request.requestId });
    answered(request, status, keyId);
  }

  /** Why a request that its key allows is not taken. */
  function obstacle({ incoming }: Request, { keyId, cors }: Admission): Admission['refusal'] {
    // Browsers send a page's WebSockets anywhere: what they ask before other requests is asked here.
    if (incoming.headers.origin !== undefined && !cors.includes(ALLOWS_ORIGIN))
      return { status: 403, message: 'Origin is not one of CORS_ORIGINS' };
    if (isClosing || open.size >= limits.socketsMax)
      return { status: 503, message: 'Too many WebSockets are open: try again later' };
    if (open.countOf(keyId) < limits.socketsPerKey) return null;
    return { status: 429, message: `A key may have ${limits.socketsPerKey} WebSockets open` };
  }

  function openSubscriptions(
    { chain }: ServedChain,
    tell: (notifications: Notifications) => void,
  ): ClientSubscriptions {
    return createClientSubscriptions({
      chain,
      sources: options.feeds.of(chain),
      metrics: subscriptionMetrics,
      subscriptionsMax: limits.subscriptionsMax ?? SUBSCRIPTIONS_MAX,
      tell,
    });
  }

  function countNotification({ chain }: ServedChain, keyId: string, length: number): void {
    const entry = usage.entry(keyId, chain.chain.id, NOTIFICATION);
    entry.calls += 1;
    entry.bytes += length;
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
      const { slug } = served.chain;
      const connection = new SocketConnection({
        socket: webSocket,
        served,
        keyId,
        serveBody: options.serveBody,
        bodies: options.bodies,
        openSubscriptions: (tell) => openSubscriptions(served, tell),
        pump,
        onNotified: (length) => countNotification(served, keyId, length),
        logger,
        onClose() {
          open.delete(connection);
          metrics.open(slug, -1);
        },
        onEnded: (reason) => metrics.ended(slug, reason),
      });
      open.add(connection, { headers: incoming.headers, key, keyId });
      metrics.open(slug, 1);
    });
  }

  /** Pings every client, and ends the sockets of those who would not be let in any more: their key was revoked or narrowed. */
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

  const pings = setInterval(() => void checkAll(), limits.pingIntervalMs ?? PING_INTERVAL_MS).unref();

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
        (known) => admit(request, known),
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
