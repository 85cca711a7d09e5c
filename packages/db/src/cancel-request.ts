import { once } from 'node:events';
import { connect } from 'node:net';
import type { Way } from './connection-route.ts';

/** What a server (or pooler) gave a session to be named by. */
export interface BackendKey {
  readonly processID: number;
  readonly secretKey: number;
}

const TIMEOUT_MS = 5_000;
/** The protocol's number of this request. */
const CANCEL_REQUEST = 80_877_102;

/**
 * Cancels what a session is doing, over a connection of its own, which the server closes once it has taken the request. Never encrypted,
 * as by libpq: it holds nothing but the key, and the server reads it before it asks who comes.
 */
export async function sendCancelRequest({ host }: Way, { processID, secretKey }: BackendKey): Promise<void> {
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(CANCEL_REQUEST, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  const socket = host.host.startsWith('/')
    ? connect(`${host.host}/.s.PGSQL.${host.port}`)
    : connect(host.port, host.host);
  socket.setTimeout(TIMEOUT_MS, () =>
    socket.destroy(new Error('The server did not take the request to cancel in time')),
  );
  socket.resume();
  // Not ended by us: PgBouncer drops the request of a client that closed its side before it was passed on.
  socket.write(request);
  await once(socket, 'close');
}
