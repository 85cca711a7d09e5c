import { errorText, type Logger } from '@chainstead/core';
import type { ClientConfig, Pool } from 'pg';
import { sql } from '../sql.ts';
import { queryOn } from './query-on.ts';
import { SessionClient } from './session-client.ts';

/** A connection in use for longer may wait for a server that it no longer reaches. */
const SUSPECT_AFTER_MS = 5_000;
const LOOK_EVERY_MS = 10_000;
const LOOK_TIMEOUT_MS = 4_500;

interface LostSessionsOptions {
  readonly openSession: (config: ClientConfig) => SessionClient;
  readonly logger: Logger;
}

/**
 * A proxy that switches servers may leave connections hanging, alive for both kernels: a new one
 * checks which sessions exist. Not behind a balancer.
 */
export function cutLostSessions(pool: Pool, { openSession, logger }: LostSessionsOptions): void {
  const connected = new Set<SessionClient>();
  const inUse = new Map<object, number>();
  let isLooking = false;

  function lookLater(): void {
    if (isLooking) return;
    isLooking = true;
    setTimeout(() => void look(), LOOK_EVERY_MS).unref();
  }

  async function look(): Promise<void> {
    const suspectFrom = performance.now() - SUSPECT_AFTER_MS;
    const isSuspect = (client: object): boolean => (inUse.get(client) ?? Number.POSITIVE_INFINITY) <= suspectFrom;
    if ([...inUse.keys()].some(isSuspect))
      try {
        const lost = lostWith(await findMissing(), isSuspect);
        if (lost.length > 0) logger.warn({ connections: lost.length }, LOST);
        for (const client of lost) client.destroy();
      } catch (error) {
        logger.debug({ error: errorText(error) }, 'It could not be asked which sessions the server has');
      }
    isLooking = false;
    if (inUse.size > 0) lookLater();
  }

  async function findMissing(): Promise<readonly SessionClient[]> {
    const clients = [...connected].filter(({ backend }) => backend !== null);
    const asking = openSession({ query_timeout: LOOK_TIMEOUT_MS });
    try {
      await asking.connect();
      const backends = clients.map(({ backend }) => backend);
      const rows = await queryOn<{ pid: number }>(
        asking,
        sql`SELECT pid FROM pg_stat_activity WHERE pid = ANY (${backends}::int[])`,
      );
      const present = new Set<number | null>(rows.map(({ pid }) => pid));
      return clients.filter((client) => client.goesAs(asking) && !present.has(client.backend));
    } finally {
      asking.destroy();
    }
  }

  pool.on('connect', (client) => {
    if (client instanceof SessionClient) connected.add(client);
  });
  pool.on('remove', (client) => {
    if (client instanceof SessionClient) connected.delete(client);
    inUse.delete(client);
  });
  pool.on('acquire', (client) => {
    inUse.set(client, performance.now());
    lookLater();
  });
  pool.on('release', (_error, client) => inUse.delete(client));
}

/** All, if one of them is in use: sessions of closing idle connections are missing too. */
export function lostWith<C extends object>(
  missing: readonly C[],
  isSuspect: (client: C) => boolean,
): readonly C[] {
  return missing.some(isSuspect) ? missing : [];
}

const LOST =
  'Connections lead to a server that new ones do not lead to any more: they are cut, and what waits for them is tried again';
