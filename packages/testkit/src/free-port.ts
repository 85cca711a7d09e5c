import { once } from 'node:events';
import { createServer } from 'node:net';

/** A TCP port of 127.0.0.1 on which nobody listens now. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new TypeError('A listening TCP server has no port');
  return address.port;
}
