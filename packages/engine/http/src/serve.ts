import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import type { RawHandler } from './access/raw-gate.ts';
import { requestIdOf } from './access/request-gate.ts';
import type { ApiApp } from './api-context.ts';

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** Request line and headers; above it 431. @default 16384 */
  readonly headerBytesMax?: number;
  /** For a request; above it 408. @default 30000 */
  readonly receiveTimeoutMs?: number;
  /** Above it 408. @default 10000 */
  readonly headersTimeoutMs?: number;
  /** Further ones are closed on arrival, idle ones make room. @default 2000 */
  readonly connectionsMax?: number;
  /** For requests after `close`. @default 10000 */
  readonly closeDeadlineMs?: number;
  readonly rawHandler?: RawHandler;
  /** Without it, upgrade requests are served as plain requests. */
  readonly upgrades?: UpgradeHandler;
}

export interface ApiServer {
  readonly url: string;
  close(options?: CloseOptions): Promise<void>;
}

interface CloseOptions {
  /** Idle connections may carry one more request in this time. @default 0 */
  readonly idleGraceMs?: number;
}

const HEADER_BYTES_MAX = 16_384;
const RECEIVE_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
const TIMEOUT_CHECK_MS = 2_000;
/** Longer than proxies keep a connection open: they close it first. */
const KEEP_ALIVE_MS = 65_000;
const SILENCE_MS = 120_000;
const CONNECTIONS_MAX = 2_000;
const CLOSE_DEADLINE_MS = 10_000;
const DROP_ABOVE_MAX = { dropMaxConnection: true };
const IDLE_SWEEP_MS = 20;

export async function serveApi(app: ApiApp, options: ServeOptions): Promise<ApiServer> {
  const receiveTimeoutMs = options.receiveTimeoutMs ?? RECEIVE_TIMEOUT_MS;
  const { host, rawHandler, upgrades } = options;
  let closed: Promise<void> | undefined;
  const listener = getRequestListener(app.fetch, {
    // Otherwise up to 64 MiB of unread body would be received.
    autoCleanupIncoming: false,
    errorHandler: () => {
      const body = { message: 'Request line or Host header is malformed' };
      return Response.json(body, { status: 400, headers: { 'x-request-id': requestIdOf(undefined) } });
    },
  });
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse): unknown => {
    if (closed !== undefined) outgoing.setHeader('connection', 'close');
    closeWithConnection(incoming.socket, outgoing);
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
  // Processes that share a port would pass such connections on while all are full.
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
  await listen(server, options.port, host);
  const bound = server.address() as AddressInfo | null;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound?.port ?? 0}`,
    close: ({ idleGraceMs = 0 } = {}) => {
      const deadlineMs = options.closeDeadlineMs ?? CLOSE_DEADLINE_MS;
      closed ??= closeGracefully(server, {
        deadlineMs,
        idleGraceMs: Math.min(idleGraceMs, deadlineMs),
        upgrades,
      });
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

interface GracefulClose extends Required<CloseOptions> {
  readonly deadlineMs: number;
  readonly upgrades: UpgradeHandler | undefined;
}

async function closeGracefully(
  server: Server,
  { deadlineMs, idleGraceMs, upgrades }: GracefulClose,
): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => {
    // The `close` of an HTTP server would close idle connections immediately.
    NetServer.prototype.close.call(server, (error) => (error === undefined ? resolve() : reject(error)));
  });
  let sweep: NodeJS.Timeout | undefined;
  const endIdle = (): void => {
    // A keep-alive connection whose request just finished would keep the server open.
    sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
    // For the other cleanup; the error that the server is closed is ignored.
    server.close(() => undefined);
  };
  if (idleGraceMs === 0) endIdle();
  const grace = idleGraceMs === 0 ? undefined : setTimeout(endIdle, idleGraceMs);
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
  try {
    // The server counts upgraded connections as its own.
    await Promise.all([upgrades?.close(deadlineMs), closed]);
  } finally {
    clearTimeout(grace);
    clearInterval(sweep);
    clearTimeout(deadline);
  }
}

function refuseExpectation(incoming: IncomingMessage, outgoing: ServerResponse): void {
  closeUnlessRead(incoming, outgoing);
  outgoing.writeHead(417, { 'content-type': 'application/json', 'x-request-id': requestIdOf(undefined) });
  outgoing.end(JSON.stringify({ message: 'Only 100-continue can be expected' }));
}

function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, message] = CLIENT_ERRORS[error.code ?? ''] ?? [400, 'Request is not valid HTTP'];
  const body = JSON.stringify({ message });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `x-request-id: ${requestIdOf(undefined)}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

const CLIENT_ERRORS: Readonly<Partial<Record<string, readonly [status: number, message: string]>>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request line and headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
};

const unsent = new WeakMap<Socket, Set<ServerResponse>>();

/** Node emits no `close` for a pipelined response if the connection ends before its turn. */
function closeWithConnection(socket: Socket, outgoing: ServerResponse): void {
  const responses = unsent.get(socket) ?? new Set();
  if (!unsent.has(socket)) {
    unsent.set(socket, responses);
    socket.once('close', () => {
      for (const response of responses) if (response.socket === null) response.destroy().emit('close');
    });
  }
  responses.add(outgoing);
  outgoing.once('close', () => responses.delete(outgoing));
}

const UNREAD_BYTES_MAX = 65_536;

/** For a response that was sent before its body was read. */
const READ_ANSWER_MS = 1_000;

/** If too much body may follow, or one that waits for `100 Continue`. */
function closeUnlessRead(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': encoding, expect } = incoming.headers;
  const isShort = encoding === undefined && (length === undefined || Number(length) <= UNREAD_BYTES_MAX);
  if (isShort && expect === undefined) return;
  const { socket } = incoming;
  const { shouldKeepAlive } = outgoing;
  const { destroySoon } = socket;
  outgoing.shouldKeepAlive = false;
  socket.destroySoon = () => {
    // Node would resume the socket next, to receive and drop the rest.
    incoming._read = () => undefined;
    closeUnread(socket);
  };
  incoming.once('end', () => {
    outgoing.shouldKeepAlive = shouldKeepAlive;
    socket.destroySoon = destroySoon;
  });
}

/** Not before the key and route are checked. */
function continueOnceRead(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const read = incoming._read;
  incoming._read = (size) => {
    incoming._read = read;
    if (!outgoing.headersSent) outgoing.writeContinue();
    incoming._read(size);
  };
}

/** Closing with unread bytes resets the connection, which may overtake the response. */
function closeUnread(socket: Socket): void {
  socket.pause();
  socket.end();
  const timer = setTimeout(() => socket.destroy(), READ_ANSWER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

export interface UpgradeHandler {
  takes(incoming: IncomingMessage): boolean;
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Connections still open after `deadlineMs` are destroyed. */
  close(deadlineMs: number): Promise<void>;
}
