import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { chainKeyOf } from '@chainstead/aptos';
import { errorText, type Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { provideReaderLogin, readerPasswordOf } from '@chainstead/db/server';
import type { ConfiguredKey } from '@chainstead/http';
import { createFirstAdminKey, loadServerSecret } from '@chainstead/http/server';
import type { Configuration, RoleName } from '../configuration/index.ts';
import { ListenError } from '../errors/describe-error.ts';
import type { Storage } from '../session/storage.ts';

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

const FILE = 'console-key';

interface AdminKeyFileOptions {
  readonly database: Database;
  readonly configured: readonly ConfiguredKey[];
  readonly dataDirectory: string;
  readonly logger: Logger;
}

/** Printed output ends up in logs. @returns null if such a key ever existed, or on failure */
export async function writeFirstAdminKey(options: AdminKeyFileOptions): Promise<string | null> {
  const { database, configured, dataDirectory, logger } = options;
  const path = join(dataDirectory, FILE);
  const unwritten = new Set<unknown>();
  try {
    const key = await createFirstAdminKey(database, configured, async (made) => {
      try {
        await writePrivate(dataDirectory, path, made);
      } catch (error) {
        unwritten.add(error);
        throw error;
      }
    });
    return key === null ? null : path;
  } catch (error) {
    if (!unwritten.has(error)) throw error;
    logger.warn(
      { path, reason: errorText(error) },
      'Console key file could not be written. Run "chainstead keys create --scope admin"',
    );
    return null;
  }
}

/** Whole or not at all, without rights or links of an earlier file. */
async function writePrivate(directory: string, path: string, text: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  await rm(temporary, { force: true });
  await writeFile(temporary, `${text}\n`, { mode: 0o600, flag: 'wx' });
  await rename(temporary, path);
}

/** The same password in all processes. @throws DatabaseError READER_ROLE_MISSING */
export async function withAnalystUrl(configuration: Configuration, storage: Storage): Promise<Configuration> {
  const { api, database } = configuration;
  if (database.analystUrl !== null || !(api.hasAgentSql || api.hasGraphql)) return configuration;
  // Past a pooler in transaction mode: it does not know the role.
  const url = storage.isEmbedded ? storage.url : storage.roleMakerUrl;
  const analystUrl = await provideReaderLogin({
    ...{ url, makerUrl: storage.roleMakerUrl },
    password: readerPasswordOf(url) ?? (await storedPassword(storage)),
  });
  return { ...configuration, database: { ...database, analystUrl } };
}

async function storedPassword({ database }: Storage): Promise<string> {
  const secret = await loadServerSecret(database, 'reader-roles');
  return createHmac('sha256', secret).update('analyst').digest('base64url');
}

type ConfiguredChains = Pick<Configuration, 'chains' | 'aptos'>;

/** After SIGHUP, which replaces API processes alone: ingestion and workers keep the chains of their start. */
export function reportChangedChains(
  running: ConfiguredChains,
  read: () => ConfiguredChains,
  logger: Pick<Logger, 'warn'>,
): void {
  let next: ConfiguredChains;
  try {
    next = read();
  } catch (error) {
    logger.warn({ error: errorText(error) }, 'Configuration is invalid. Correct it and send SIGHUP again');
    return;
  }
  const [before, after] = [keysOf(running), keysOf(next)];
  const added = after.filter((key) => !before.includes(key));
  const removed = before.filter((key) => !after.includes(key));
  if (added.length + removed.length > 0)
    logger.warn({ added, removed }, 'Chains have changed. Restart Chainstead to apply this');
}

function keysOf({ chains, aptos }: ConfiguredChains): string[] {
  return [...chains.map(({ chain }) => chain.key), ...aptos.networks.map(({ network }) => chainKeyOf(network))];
}
