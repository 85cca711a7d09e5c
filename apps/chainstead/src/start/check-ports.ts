import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { Configuration, RoleName } from '../configuration/index.ts';
import { ListenError } from '../errors/listen-error.ts';

interface Listened {
  readonly host: string;
  readonly hostKey: string;
  readonly port: number;
  readonly key: string;
}

/** All together, before anything slow starts. @throws ListenError */
export async function requireFreePorts(configuration: Configuration, roles: readonly RoleName[]): Promise<void> {
  const held: Server[] = [];
  try {
    for (const address of listenedBy(configuration, roles)) held.push(await holdPort(address));
  } finally {
    await Promise.all(held.map((server) => once(server.close(), 'close')));
  }
}

function listenedBy({ api, aptos, metrics }: Configuration, roles: readonly RoleName[]): Listened[] {
  const ofApi: Listened[] = [
    { host: api.host, hostKey: 'HOST', port: api.port, key: 'PORT' },
    ...portOf(aptos.testnetPort, { host: api.host, hostKey: 'HOST', key: 'APTOS_TESTNET_PORT' }),
  ];
  return [
    ...(roles.includes('api') ? ofApi : []),
    ...portOf(metrics.port, { host: metrics.host, hostKey: 'METRICS_HOST', key: 'METRICS_PORT' }),
  ];
}

function portOf(port: number | null, address: Omit<Listened, 'port'>): Listened[] {
  return port === null ? [] : [{ ...address, port }];
}

async function holdPort({ host, hostKey, port, key }: Listened): Promise<Server> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (cause) {
    throw new ListenError({ host, port, key, hostKey, cause });
  }
  return server;
}
