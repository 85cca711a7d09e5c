import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Systems assign none of these to outgoing connections, so only another server may take one before the caller listens there. */
const PORT_MIN = 10_240;
const PORT_MAX = 32_000;
const ATTEMPTS = 100;

/** A TCP port of 127.0.0.1 without a listener. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    if (await isFree(port)) return port;
  }
  throw new Error(
    `None of ${ATTEMPTS} ports between ${PORT_MIN} and ${PORT_MAX} is free: end servers that are left over`,
  );
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
