import { silentLogger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { exampleApi } from '../testing/example-api.ts';
import { createApiUsageCounter, readApiUsage, readRouteUsage } from './api-usage-counter.ts';

const scratch = scratchOfFile();
const clock = { now: () => Date.now() };

beforeEach(() => scratch.database.query(sql`TRUNCATE api_usage`));

const counterOn = (database: Database) => createApiUsageCounter({ database, logger: silentLogger(), clock });

describe('usage of the API', () => {
  test('is added up by key, day, method and route over processes and flushes', async () => {
    const [one, other] = [counterOn(scratch.database), counterOn(scratch.database)];
    const request = { keyId: '0123abcd', method: 'GET', route: '/a/:b' };
    one.count({ ...request, status: 200 });
    await one.flush();
    one.count({ ...request, status: 404 });
    other.count({ ...request, status: 503 });
    other.count({ ...request, status: 501 });
    other.count({ ...request, keyId: 'config:1', status: 200 });
    await Promise.all([one.close(), other.close()]);
    expect(await readApiUsage(scratch.database, 1)).toMatchObject([
      { ...request, requests: 4, refused: 1, failed: 1, unserved: 1 },
      { ...request, keyId: 'config:1', requests: 1, refused: 0, failed: 0, unserved: 0 },
    ]);
    expect(await readRouteUsage(scratch.database, 1)).toEqual([
      { method: 'GET', route: '/a/:b', requests: 5, refused: 1, failed: 1, unserved: 1 },
    ]);
  });

  test('that can not be written is kept for the next time', async () => {
    let isAway = true;
    const counter = counterOn({
      ...scratch.database,
      query: (statement) =>
        isAway ? Promise.reject(new Error('connection lost')) : scratch.database.query(statement),
    });
    const request = { keyId: 'open', method: 'GET', route: '/a', status: 200 };
    counter.count(request);
    await counter.flush();
    counter.count(request);
    isAway = false;
    await counter.close();
    expect(await readApiUsage(scratch.database, 1)).toMatchObject([{ requests: 2 }]);
  });

  test('counts what keys were answered, by the pattern of the route, and nothing of strangers', async () => {
    const counter = counterOn(scratch.database);
    const app = await exampleApi(
      scratch.database,
      [
        (api) => {
          api.get('/things/:name{[a-z]{1,9}}', (c) =>
            c.req.param('name') === 'none' ? c.json({}, 404) : c.json({}),
          );
        },
      ],
      { usage: counter },
    );
    const headers = { 'x-api-key': 'test-key' };
    for (const name of ['one', 'two', 'none']) await app.request(`/things/${name}`, { headers });
    await app.request('/things/one');
    await app.request('/things/one', { headers: { 'x-api-key': 'another-key' } });
    await app.request('/nowhere', { headers });
    await counter.close();
    const [only, ...others] = await readApiUsage(scratch.database, 1);
    expect(only).toMatchObject({
      keyId: 'config:1',
      method: 'GET',
      route: '/things/:name',
      requests: 3,
      refused: 1,
    });
    expect(others).toEqual([]);
  });
});
