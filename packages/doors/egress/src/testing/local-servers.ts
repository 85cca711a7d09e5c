import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { createEgress, type Egress, type EgressOptions } from '../egress.ts';

/** A real HTTP server on this machine that remembers what it was asked. */
export interface LocalServer {
  readonly port: number;
  readonly url: string;
  readonly requests: IncomingMessage[];
  connections(): number;
}

const closers: (() => Promise<unknown> | unknown)[] = [];

/** Ends everything that a test has started. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0)) await close();
}

export async function serve(listener: RequestListener, host = '127.0.0.1', port = 0): Promise<LocalServer> {
  const requests: IncomingMessage[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  server.on('connection', () => {
    connections++;
  });
  const bound = await listen(server, host, port);
  closers.push(() => server.closeAllConnections());
  return { port: bound, url: `http://${host}:${bound}/`, requests, connections: () => connections };
}

/** A server below HTTP. @returns its port */
export async function serveTcp(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  const port = await listen(server, '127.0.0.1', 0);
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  return port;
}

/** A port where nothing listens any more. */
export async function freePort(): Promise<number> {
  const server = createTcpServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A client that may reach this machine. */
export function open(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ allowPrivate: ['127.0.0.0/8'], ...options });
  closers.push(() => egress.close());
  return egress;
}

export function answer(
  body: string | Buffer,
  headers: Record<string, string> = {},
  status = 200,
): RequestListener {
  return (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}

async function listen(server: Server | TcpServer, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
}
