import { errorText, type Logger } from '@chainstead/core';
import type { ClientConfig, Pool } from 'pg';
import { SessionClient } from './session-client.ts';

/** Whoever has a connection for longer may be waiting for a server that is not behind it any more. Milliseconds. */
const SUSPECT_AFTER_MS = 5_000;
const LOOK_EVERY_MS = 10_000;
const LOOK_TIMEOUT_MS = 4_500;

export interface LostSessionsOptions {
  /** A client for one session of the server that new connections lead to. */
  readonly openSession: (config: ClientConfig) => SessionClient;
  readonly logger: Logger;
}

/**
 * Cuts connections of a pool whose sessions the server does not have any more. A proxy that leads to another server after a failover may leave the
 * connections to the former one hanging: to both kernels they are alive, and what was asked over them would wait for good. So while some are
 * in use for seconds, a new one asks which of all their sessions are there. For servers of which one takes writes: a balancer may lead elsewhere each time.
 */
export function cutLostSessions(pool: Pool, { openSession, logger }: LostSessionsOptions): void {
  const connected = new Set<SessionClient>();
  /** With since when, by `performance.now()`. */
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
        // Where there is no server to be asked, those who wait are to go on waiting for theirs.
        logger.debug({ error: errorText(error) }, 'It could not be asked which sessions the server has');
      }
    isLooking = false;
    if (inUse.size > 0) lookLater();
  }

  /** The connections whose sessions the server does not have. */
  async function findMissing(): Promise<readonly SessionClient[]> {
    const known = [...connected].filter(({ backend }) => backend !== null);
    const asking = openSession({ query_timeout: LOOK_TIMEOUT_MS });
    try {
      await asking.connect();
      const { rows } = await asking.query<{ pid: number }>(
        'SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1::int[])',
        [known.map(({ backend }) => backend)],
      );
      const there = new Set(rows.map(({ pid }) => pid));
      return known.filter((client) => client.goesAs(asking) && client.backend !== null && !there.has(client.backend));
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

/**
 * The connections that are lost: all whose sessions are missing, if somebody still waits for one of them. A session of the same server is missing too while
 * its connection is being closed, as idle ones are, but nobody waits for that.
 */
export function lostWith<C extends object>(missing: readonly C[], isSuspect: (client: C) => boolean): readonly C[] {
  return missing.some(isSuspect) ? missing : [];
}

const LOST =
  'Connections lead to a server that new ones do not lead to any more: they are cut, and what waits for them is tried again';
