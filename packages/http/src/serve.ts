import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { ApiApp } from './api-context.ts';
import type { RawHandler } from './raw-gate.ts';
import { requestIdOf } from './request-gate.ts';
import { closeUnlessRead, continueOnceRead } from './unread-body.ts';
import type { UpgradeHandler } from './upgrade-handler.ts';

export interface ServeOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Largest request line and headers together; above it 431. Default 16 KiB. */
  readonly headerBytesMax?: number;
  /** How long a client may take to send a request; above it 408. Default 30,000 ms. */
  readonly receiveTimeoutMs?: number;
  /** How long a client may take to send the headers; above it 408. Default 10,000 ms. */
  readonly headersTimeoutMs?: number;
  /** Connections at once; further ones are closed as they come, idle ones make room. Default 2,000. */
  readonly connectionsMax?: number;
  /** How long requests may go on after `close`. Default 10,000 ms. */
  readonly closeDeadlineMs?: number;
  /** Asked first for every request; what it does not take, the API answers. */
  readonly rawHandler?: RawHandler;
  /** Takes requests for another protocol; without it they are served as if they had not asked for one. */
  readonly upgrades?: UpgradeHandler;
}

export interface ApiServer {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Stops accepting, lets requests finish until the deadline, then ends what is left. The options of a second call don't count. */
  close(options?: CloseOptions): Promise<void>;
}

export interface CloseOptions {
  /**
   * How long connections that clients keep open, and that are idle now, may carry one more request, whose answer tells the client to close.
   * A client can't know that a connection is closed while it sends: ended at once, some requests would fail. Default 0 ms.
   */
  readonly idleGraceMs?: number;
}

const HEADER_BYTES_MAX = 16_384;
const RECEIVE_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** How often overdue requests are looked for. */
const TIMEOUT_CHECK_MS = 2_000;
/** Longer than proxies keep a connection, so that they close first. */
const KEEP_ALIVE_MS = 65_000;
/** A connection on which nothing moves, for instance since the client takes nothing of its answer. */
const SILENCE_MS = 120_000;
const CONNECTIONS_MAX = 2_000;
const CLOSE_DEADLINE_MS = 10_000;
/** A property that Node has (documented beside `maxConnections`) and its types lack. */
const DROP_ABOVE_MAX = { dropMaxConnection: true };
/** How often connections that became idle are ended while the server closes. */
const IDLE_SWEEP_MS = 20;

/** Listens. Rejects when the address is taken. */
export async function serveApi(app: ApiApp, options: ServeOptions): Promise<ApiServer> {
  const receiveTimeoutMs = options.receiveTimeoutMs ?? RECEIVE_TIMEOUT_MS;
  const { rawHandler, upgrades } = options;
  let closed: Promise<void> | undefined;
  const listener = getRequestListener(app.fetch, {
    // It would receive up to 64 MiB of what was not read.
    autoCleanupIncoming: false,
    errorHandler: () => errorResponse(400, 'Request line or Host header is malformed'),
  });
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse): unknown => {
    if (closed !== undefined) outgoing.setHeader('connection', 'close');
    closeUnlessRead(incoming, outgoing);
    return rawHandler?.(incoming, outgoing) === true || listener(incoming, outgoing);
  };
  const server = createServer(
    {
      maxHeaderSize: options.headerBytesMax ?? HEADER_BYTES_MAX,
      requestTimeout: receiveTimeoutMs,
      headersTimeout: Math.min(receiveTimeoutMs, options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS),
      connectionsCheckingInterval: Math.min(receiveTimeoutMs, TIMEOUT_CHECK_MS),
      keepAliveTimeout: KEEP_ALIVE_MS,
      shouldUpgradeCallback: (incoming) => upgrades?.takes(incoming) === true,
    },
    answer,
  );
  server.maxConnections = options.connectionsMax ?? CONNECTIONS_MAX;
  // Processes that share a port would hand such a connection to each other for as long as all of them are full.
  Object.assign(server, DROP_ABOVE_MAX);
  server.on('drop', () => server.closeIdleConnections());
  server.setTimeout(SILENCE_MS);
  server.on('clientError', answerClientError);
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    continueOnceRead(incoming, outgoing);
    answer(incoming, outgoing);
  });
  server.on('checkExpectation', refuseExpectation);
  if (upgrades !== undefined)
    server.on('upgrade', (incoming, socket, head) => upgrades.upgrade(incoming, socket, head));
  await listen(server, options.port, options.host);
  return {
    url: urlOf(server.address(), options.host),
    close: ({ idleGraceMs = 0 } = {}) => {
      const deadlineMs = options.closeDeadlineMs ?? CLOSE_DEADLINE_MS;
      closed ??= closeGracefully(server, { deadlineMs, idleGraceMs: Math.min(idleGraceMs, deadlineMs), upgrades });
      return closed;
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function urlOf(address: AddressInfo | string | null, host: string): string {
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

interface GracefulClose extends Required<CloseOptions> {
  readonly deadlineMs: number;
  readonly upgrades: UpgradeHandler | undefined;
}

async function closeGracefully(server: Server, { deadlineMs, idleGraceMs, upgrades }: GracefulClose): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => {
    // An HTTP server's own `close` ends idle connections at once.
    NetServer.prototype.close.call(server, (error) => (error === undefined ? resolve() : reject(error)));
  });
  let sweep: NodeJS.Timeout | undefined;
  const endIdle = (): void => {
    // A keep-alive connection whose request has just finished would hold the server open.
    sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
    // For what it ends besides connections; it was closed before, which it tells as an error.
    server.close(() => undefined);
  };
  if (idleGraceMs === 0) endIdle();
  const grace = idleGraceMs === 0 ? undefined : setTimeout(endIdle, idleGraceMs);
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
  try {
    // The server counts their connections among its own.
    await Promise.all([upgrades?.close(deadlineMs), closed]);
  } finally {
    clearTimeout(grace);
    clearInterval(sweep);
    clearTimeout(deadline);
  }
}

/** A client that expects anything but `100-continue`. Its body is not read. */
function refuseExpectation(incoming: IncomingMessage, outgoing: ServerResponse): void {
  closeUnlessRead(incoming, outgoing);
  outgoing.writeHead(417, { 'content-type': 'application/json', 'x-request-id': requestIdOf(undefined) });
  outgoing.end(JSON.stringify({ message: 'Only 100-continue can be expected' }));
}

/** What Node's parser refuses never becomes a request, but gets the same envelope. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, message] = describeClientError(error.code);
  const body = JSON.stringify({ message });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `x-request-id: ${requestIdOf(undefined)}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function describeClientError(code: string | undefined): readonly [status: number, message: string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'Request line and headers are too large'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'The request took too long to arrive'];
  return [400, 'Request is not valid HTTP'];
}

function errorResponse(status: number, message: string): Response {
  return Response.json({ message }, { status, headers: { 'x-request-id': requestIdOf(undefined) } });
}
