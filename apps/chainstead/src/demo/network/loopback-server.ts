import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /** Ends every connection. Safe to call twice. */
  close(): Promise<void>;
}

/** Clients must not write into a closing socket: longer than they keep idle connections. */
const KEEP_ALIVE_MS = 65_000;

export async function listenOnLoopback(server: Server, port: number): Promise<ListeningServer> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = KEEP_ALIVE_MS + 1_000;
  server.requestTimeout = 0;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
