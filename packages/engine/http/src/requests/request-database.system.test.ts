import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger, silentLogger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { createScratchDatabase, type ScratchDatabase, startScratchPgBouncer } from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { RouteModule } from '../api-dependencies.ts';
import { type ApiServer, serveApi } from '../serve.ts';
import { createDemoApi, fixedKeys } from '../testing/demo-api.ts';
import { createRequestDatabase } from './request-database.ts';

const WAIT = { timeout: 15_000 };
const APPLICATION = 'chainstead api';

/** A pause of a transaction between two statements. */
const pausing = { begun: () => {}, over: Promise.resolve() };

const routes: RouteModule = (app, { database }) => {
  app.get('/slow', async (c) => c.json(await database.query(sql`SELECT 1 AS slow FROM pg_sleep(600)`)));
  app.get('/slow-change', async (c) =>
    c.json(
      await database.transaction(async (transaction) => {
        await transaction.query(sql`CREATE TABLE changed ()`);
        return transaction.query(sql`SELECT 1 AS slow FROM pg_sleep(600)`);
      }),
    ),
  );
  app.get('/pausing', async (c) =>
    c.json(
      await database.transaction(async (transaction) => {
        await transaction.query(sql`SELECT 1`);
        pausing.begun();
        await pausing.over;
        return transaction.query(sql`SELECT 1 AS slow FROM pg_sleep(600)`);
      }),
    ),
  );
  app.get('/quick', async (c) => c.json(await database.query(sql`SELECT 1 AS quick`)));
};

interface Way {
  readonly url: string;
  /** For sessions, if `url` offers none. */
  readonly sessionUrl?: string;
}

describe('what requests ask of the database', () => {
  let scratch: ScratchDatabase;
  let server: ApiServer;
  let close: (() => Promise<void>) | undefined;
  /** The server's unlimited pool for requests. */
  let pool: Database;
  let errors: string[];

  async function serve(
    limits: { requestTimeoutMs: number },
    settings: Record<string, string> = {},
    way: Way = { url: scratch.url },
    poolSize = 3,
  ): Promise<void> {
    pool = openDatabase({
      ...way,
      applicationName: APPLICATION,
      poolSize,
      settings,
      logger: silentLogger(),
    });
    const requests = createRequestDatabase(pool);
    const logger = createLogger({ level: 'error', destination: { write: (line) => errors.push(line) } });
    const { app } = createDemoApi({
      database: requests.database,
      requestScope: requests.scope,
      keys: fixedKeys('loud', 'quiet'),
      routes: [routes],
      limits: { bodyBytesMax: 1_000, pageLimitMax: 50, rateLimit: null, ...limits },
      logger,
    });
    server = await serveApi(app, { host: '127.0.0.1', port: 0, closeDeadlineMs: 100 });
    const opened = pool;
    close = async () => {
      await server.close();
      await opened.close();
    };
  }

  beforeEach(async () => {
    errors = [];
    scratch = await createScratchDatabase({ migrated: false });
  });
  afterEach(async () => {
    await close?.();
    close = undefined;
    await scratch.drop();
  });

  const sessions = (): Promise<{ pid: number; busy: boolean }[]> =>
    scratch.database.query(
      sql`SELECT pid, state = 'active' AS busy FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = ${APPLICATION} ORDER BY pid`,
    );
  const idle = async (): Promise<number> => {
    const found = await scratch.database.query(
      sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = ${APPLICATION} AND state = 'idle'`,
    );
    return found.length;
  };
  const busy = async (): Promise<number> => (await sessions()).filter((session) => session.busy).length;
  const get = (path: string, signal?: AbortSignal, key = 'loud'): Promise<Response> =>
    fetch(server.url + path, { headers: { 'x-api-key': key }, ...(signal !== undefined && { signal }) });

  /** Opens all sessions of the pool: on a busy machine that can exceed the request timeout. */
  async function openSessions(): Promise<void> {
    const opening = await scratch.database.transaction(async (transaction) => {
      await transaction.query(sql`SELECT pg_advisory_xact_lock(1)`);
      const waiting = Array.from({ length: 3 }, () => pool.query(sql`SELECT pg_advisory_xact_lock_shared(1)`));
      await vi.waitFor(async () => expect(await busy()).toBe(3), WAIT);
      return { waiting };
    });
    await Promise.all(opening.waiting);
  }

  async function isCancelledInTime(way?: Way): Promise<void> {
    await serve({ requestTimeoutMs: 500 }, {}, way);
    await openSessions();
    const before = await sessions();
    expect(before).toHaveLength(3);
    const statuses = await Promise.all(Array.from({ length: 9 }, async () => (await get('/slow')).status));
    expect(statuses).toEqual(Array.from({ length: 9 }, () => 503));
    await vi.waitFor(async () => expect(await busy()).toBe(0), WAIT);
    expect(await (await get('/quick')).json()).toEqual([{ quick: 1 }]);
    expect((await sessions()).map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid));
  }

  async function isCancelledForNobody(way?: Way): Promise<void> {
    await serve({ requestTimeoutMs: 600_000 }, {}, way);
    const leaving = new AbortController();
    const answers = Promise.allSettled([get('/slow', leaving.signal), get('/slow-change', leaving.signal)]);
    await vi.waitFor(async () => expect(await busy()).toBe(2), WAIT);
    leaving.abort();
    await answers;
    await vi.waitFor(async () => expect(await busy()).toBe(0), WAIT);
    expect(await (await get('/quick')).json()).toEqual([{ quick: 1 }]);
    expect(await scratch.database.query(sql`SELECT to_regclass('changed') AS changed`)).toEqual([
      { changed: null },
    ]);
    expect(errors).toEqual([]);
  }

  // Invariant: FAIR-KEYS
  test('leaves connections to a key while another key sends one slow request after the other', async () => {
    await serve({ requestTimeoutMs: 600_000 }, {}, undefined, 4);
    const leaving = new AbortController();
    const slow = [get('/slow', leaving.signal, 'quiet')];
    await vi.waitFor(async () => expect(await busy()).toBe(1), WAIT);
    for (let at = 0; at < 9; at += 1) slow.push(get('/slow', leaving.signal));
    await vi.waitFor(async () => expect(await busy()).toBe(3), WAIT);
    expect(await (await get('/quick', undefined, 'quiet')).json()).toEqual([{ quick: 1 }]);
    expect(await busy()).toBe(3);
    leaving.abort();
    await Promise.allSettled(slow);
    await vi.waitFor(async () => expect(await busy()).toBe(0), WAIT);
  });

  test('is cancelled once they were told that it takes too long, and the connections go on', () =>
    isCancelledInTime());
  test('is cancelled when the client goes away, and a change is rolled back', () => isCancelledForNobody());

  test('is cancelled although the client goes away between two statements', async () => {
    await serve({ requestTimeoutMs: 600_000 });
    const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    Object.assign(pausing, { begun: begun.resolve, over: over.promise });
    const leaving = new AbortController();
    const answer = Promise.allSettled([get('/pausing', leaving.signal)]);
    await begun.promise;
    leaving.abort();
    await answer;
    // By then the cancellation for the first request has reached an idle session.
    await sleep(200);
    over.resolve();
    await vi.waitFor(async () => expect(await idle()).toBe(1), WAIT);
  });

  describe.each(['session', 'transaction'] as const)('behind PgBouncer in %s mode', (mode) => {
    let bouncer: Awaited<ReturnType<typeof startScratchPgBouncer>>;
    beforeEach(async ({ skip }) => {
      bouncer = await startScratchPgBouncer(scratch.url, mode);
      if (bouncer !== undefined) return;
      process.stdout.write(
        `NOT RUN: cancelling behind PgBouncer in ${mode} mode (no pgbouncer on this machine)\n`,
      );
      skip();
    });
    afterEach(() => bouncer?.stop());

    const way = (): Way => ({
      url: bouncer?.url ?? '',
      ...(mode === 'transaction' && { sessionUrl: scratch.url }),
    });

    test('is cancelled once they were told that it takes too long, and the connections go on', () =>
      isCancelledInTime(way()));
    test('is cancelled when the client goes away, and a change is rolled back', () =>
      isCancelledForNobody(way()));
  });

  test('that reaches the statement timeout of its session is a 503', async () => {
    await serve({ requestTimeoutMs: 600_000 }, { statement_timeout: '100' });
    const answer = await get('/slow');
    expect([answer.status, await answer.json()]).toEqual([503, { message: 'The request took too long' }]);
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  test('is a 503 while the database is away, which is told once', async () => {
    const road = await openRoad(new URL(scratch.url));
    const database = openDatabase({
      url: road.url,
      applicationName: APPLICATION,
      logger: createLogger({ level: 'info', destination: { write: (line) => errors.push(line) } }),
    });
    const { app } = createDemoApi({ database, routes: [routes] });
    server = await serveApi(app, { host: '127.0.0.1', port: 0 });
    const opened = pool;
    close = async () => {
      await server.close();
      await opened.close();
    };
    expect((await get('/quick')).status).toBe(200);
    await road.block();
    for (let request = 1; request <= 3; request += 1) {
      const answer = await get('/quick');
      expect([answer.status, await answer.json()]).toEqual([
        503,
        { message: 'The database is unavailable: try again later' },
      ]);
      expect(answer.headers.get('retry-after')).toBe('5');
    }
    expect(errors.map((line) => JSON.parse(line).msg)).toEqual(['Database unavailable']);
  });
});

/** A proxy to the database that can be blocked. */
async function openRoad(target: URL): Promise<{ url: string; block(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const road = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    near.pipe(far).pipe(near);
  });
  road.listen(0, '127.0.0.1');
  await once(road, 'listening');
  const address = road.address();
  if (address === null || typeof address === 'string') throw new TypeError('A listening TCP server has no port');
  const url = new URL(target);
  url.port = String(address.port);
  return {
    url: url.href,
    async block() {
      const closed = once(road, 'close');
      road.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
