import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Configuration, RoleName } from './configuration/index.ts';
import { ListenError } from './listen-error.ts';

/**
 * Finds out whether every port that these roles will listen on can be taken, before anything slow is started.
 * @throws ListenError
 */
export async function requireFreePorts(configuration: Configuration, roles: readonly RoleName[]): Promise<void> {
  const { api, aptos, metricsPort } = configuration;
  const ports: readonly (readonly [key: string, port: number | null])[] = roles.includes('api')
    ? [
        ['PORT', api.port],
        ['APTOS_TESTNET_PORT', aptos.testnetPort],
      ]
    : [['METRICS_PORT', metricsPort]];
  for (const [key, port] of ports) if (port !== null) await requireFreePort(api.host, port, key);
}

async function requireFreePort(host: string, port: number, key: string): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (cause) {
    throw new ListenError({ host, port, key, cause });
  }
  server.close();
  await once(server, 'close');
}
