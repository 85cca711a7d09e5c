import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RouteModule } from '../api-dependencies.ts';
import { type ApiServer, serveApi } from '../serve.ts';
import { createDemoApi } from '../testing/demo-api.ts';

const BYTES = 8_000_000;

describe('a request', () => {
  let server: ApiServer;
  let running: Set<string>;
  let ended: string[];

  const routes: RouteModule = (app) => {
    app.get('/work/:name', async (c) => {
      const { name } = c.req.param();
      running.add(name);
      const signal = c.get('ended');
      // A busy machine may begin the work after the timeout.
      if (signal.aborted) ended.push(name);
      else signal.addEventListener('abort', () => ended.push(name));
      if (name === 'never') await new Promise(() => undefined);
      return c.body(new Uint8Array(BYTES));
    });
  };
  beforeEach(async () => {
    [running, ended] = [new Set(), []];
    const limits = { bodyBytesMax: 1_000, pageLimitMax: 50, rateLimit: null, requestTimeoutMs: 500 };
    const { app } = createDemoApi({ routes: [routes], limits });
    server = await serveApi(app, { host: '127.0.0.1', port: 0, closeDeadlineMs: 100 });
  });
  afterEach(() => server.close());

  test('ends once its response is read', async () => {
    const response = await fetch(`${server.url}/work/read`, { headers: { 'x-api-key': 'any' } });
    expect((await response.arrayBuffer()).byteLength).toBe(BYTES);
    await expect.poll(() => ended).toEqual(['read']);
  });

  test('ends with its timeout, although its work goes on', async () => {
    expect((await fetch(`${server.url}/work/never`, { headers: { 'x-api-key': 'any' } })).status).toBe(503);
    expect(ended).toEqual(['never']);
  });

  test('of a pipeline ends with the connection, also before the turn of its response', async () => {
    const client = connect(Number(new URL(server.url).port), '127.0.0.1').pause();
    const names = ['one', 'two', 'three', 'never'];
    client.write(names.map((name) => `GET /work/${name} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
    await expect.poll(() => running.size).toBe(names.length);
    expect(ended).not.toContain('one');
    client.destroy();
    await expect.poll(() => ended.toSorted()).toEqual(names.toSorted());
  });
});
