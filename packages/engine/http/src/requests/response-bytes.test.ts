import { once } from 'node:events';
import { connect } from 'node:net';
import { silentLogger } from '@chainstead/core';
import { type Database, RESULT_BYTES_MAX, type Sql, sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RouteModule } from '../api-dependencies.ts';
import { ALL_SCOPES } from '../keys/key-store.ts';
import { type ApiServer, serveApi } from '../serve.ts';
import { createDemoApi, fixedKeys } from '../testing/demo-api.ts';
import { type ByteBudget, createByteBudget } from './body-bounds.ts';
import { createRequestDatabase } from './request-database.ts';
import { forOneRow, readPart } from './response-bytes.ts';

const MEGABYTE = 1_000_000;

/** Parts of long readings that run now, and the most that ran together. */
let [running, mostRunning] = [0, 0];

const megabytesOf = (text: string): Sql => sql`SELECT repeat('x', ${Number(text) * MEGABYTE}::int) AS text`;

/** Reads a text of some megabytes; "times" statements of that size. */
const routes: RouteModule = (app, { database, reads }) => {
  app.get('/read/:megabytes/:times', async (c) => {
    const { megabytes, times } = c.req.param();
    for (let read = 0; read < Number(times); read++) await reads.select(megabytesOf(megabytes));
    return c.json('read');
  });
  app.get('/row/:megabytes', async (c) => {
    await forOneRow(() => reads.select(megabytesOf(c.req.param('megabytes'))));
    return c.json('read');
  });
  app.get('/parts/:megabytes/:times', async (c) => {
    const { megabytes, times } = c.req.param();
    for (let part = 0; part < Number(times); part++)
      await readPart(async () => {
        running += 1;
        mostRunning = Math.max(mostRunning, running);
        await reads.select(megabytesOf(megabytes));
        running -= 1;
      });
    return c.json('read');
  });
  app.get('/shown/:megabytes', async (c) => c.json(await reads.select(megabytesOf(c.req.param('megabytes')))));
  app.get('/changed/:megabytes', async (c) => {
    await database.transaction(async ({ query }) => {
      await query(sql`CREATE TABLE changed ()`);
      await query(megabytesOf(c.req.param('megabytes')));
    });
    return c.json('changed');
  });
};

describe('what a request reads from the database', () => {
  const scratch = scratchOfFile({ migrated: false });
  let pool: Database;
  let budget: ByteBudget;
  let server: ApiServer;

  beforeEach(async () => {
    pool = openDatabase({
      url: scratch.url,
      applicationName: 'chainstead api',
      poolSize: 2,
      logger: silentLogger(),
    });
    budget = createByteBudget(40 * MEGABYTE, 1 / 2);
    const requests = createRequestDatabase(pool, null, budget);
    const { app } = createDemoApi({
      database: requests.database,
      requestScope: requests.scope,
      responseBytes: requests.responseBytes,
      keys: { ...fixedKeys('any'), verify: (key) => ({ id: key, name: key, scopes: ALL_SCOPES }) },
      routes: [routes],
    });
    server = await serveApi(app, { host: '127.0.0.1', port: 0, closeDeadlineMs: 100 });
  });
  afterEach(async () => {
    await server.close();
    await pool.close();
  });

  const get = (path: string, key = 'one') => fetch(server.url + path, { headers: { 'x-api-key': key } });
  const statusOf = async (path: string): Promise<number> => {
    const response = await get(path);
    await response.text();
    return response.status;
  };

  test('is refused above the maximum of one result, also in a transaction, and later requests succeed', async () => {
    expect(await statusOf('/read/8/1')).toBe(200);
    expect(await (await get('/read/9/1')).json()).toMatchObject({ details: { limit_bytes: RESULT_BYTES_MAX } });
    expect(await statusOf('/read/9/1')).toBe(413);
    expect(await statusOf('/changed/9')).toBe(413);
    expect(await scratch.database.query(sql`SELECT to_regclass('changed') AS changed`)).toEqual([
      { changed: null },
    ]);
    expect(await Promise.all([1, 2, 3, 4].map(() => statusOf('/read/1/1')))).toEqual([200, 200, 200, 200]);
    await expect.poll(() => budget.used).toBe(0);
  });

  test('is refused above the share of a key in several results', async () => {
    expect(await statusOf('/read/6/3')).toBe(200);
    expect(await statusOf('/read/6/4')).toBe(413);
    await expect.poll(() => budget.used).toBe(0);
  });

  test('for one row may take more than the share of a key, and leaves room for others', async () => {
    expect(await statusOf('/row/28')).toBe(200);
    expect(await statusOf('/row/31')).toBe(413);
    await expect.poll(() => budget.used).toBe(0);
  });

  test('in parts counts a part at a time, and parts of all requests take turns', async () => {
    const statuses = await Promise.all(Array.from({ length: 3 }, () => statusOf('/parts/6/4')));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect([running, mostRunning]).toEqual([0, 2]);
    expect(await statusOf('/parts/9/1')).toBe(413);
    await expect.poll(() => budget.used).toBe(0);
  });

  test('takes room until the response is sent, which other keys still have', async () => {
    const slow = connect(Number(new URL(server.url).port), '127.0.0.1');
    const path = '/shown/7';
    // Three responses to a client that reads none of them.
    slow.pause();
    const clients = [slow, ...[1, 2].map(() => connect(Number(new URL(server.url).port), '127.0.0.1').pause())];
    for (const client of clients.slice(0, 2))
      client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: one\r\n\r\n`);
    await expect.poll(() => budget.used).toBeGreaterThan(14 * MEGABYTE);
    const refused = await get(path);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    await refused.text();
    expect((await get(path, 'other')).status).toBe(200);
    for (const client of clients) client.destroy();
    await Promise.all(clients.map((client) => client.closed || once(client, 'close')));
    await expect.poll(() => budget.used).toBe(0);
  });
});
