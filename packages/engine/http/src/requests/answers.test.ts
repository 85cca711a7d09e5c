import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { createLogger, createMetricsRegistry, Gauge } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import type { RouteModule } from '../api-dependencies.ts';
import { createDemoApi, fixedKeys, WALLET } from '../testing/demo-api.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const DECODERS: Readonly<Record<string, (sent: Buffer) => Buffer>> = {
  ...{ gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync, zstd: zstdDecompressSync },
};

function captureLog(level: string) {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({
    level,
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  return { lines, logger };
}

describe('the request id', () => {
  const { app } = createDemoApi();

  test.each(['/demo/small', '/nope', '/demo/broken', '/demo/small?x=%zz', '/health', '/docs'])(
    'is in the answer of %s',
    async (path) => {
      expect((await app.request(path)).headers.get('x-request-id')).toMatch(UUID);
    },
  );

  test('is the client’s own where that is harmless', async () => {
    const ask = async (id: string) =>
      (await app.request('/demo/small', { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    expect(await ask('trace-1.a_B')).toBe('trace-1.a_B');
    for (const odd of ['with space', '"quoted"', 'x'.repeat(65), '<script>'])
      expect(await ask(odd)).toMatch(UUID);
  });

  test('is in every log line of the request, which never has the key, the path or the query', async () => {
    const { lines, logger } = captureLog('debug');
    const logged = createDemoApi({ logger, keys: fixedKeys('secret-key-1') });
    const headers = { 'x-request-id': 'trace-7', 'x-api-key': 'secret-key-1' };
    await logged.app.request('/demo/logs?token=query-secret', { headers });
    await logged.app.request('/demo/broken', { headers });
    await logged.app.request(`/demo/${WALLET}/rows`, {
      headers: { ...headers, 'x-api-key': 'wrong-secret-key' },
    });
    expect(lines.map((line) => [line.level, line.msg, line.route, line.status])).toEqual([
      ['info', 'Said by the route', undefined, undefined],
      ['debug', 'Request answered', '/demo/logs', 200],
      ['error', 'Request failed', '/demo/broken', undefined],
      ['info', 'Request answered', '/demo/broken', 500],
      ['info', 'Request answered', '/demo/:address/rows', 401],
    ]);
    expect(new Set(lines.map((line) => line.request_id))).toEqual(new Set(['trace-7']));
    expect(lines[1]).toMatchObject({ method: 'GET', key_id: 'config:1', duration_ms: expect.any(Number) });
    const text = JSON.stringify(lines);
    for (const secret of ['secret-key', 'query-secret', WALLET]) expect(text).not.toContain(secret);
  });

  test('successful requests are not logged at the standard level', async () => {
    const { lines, logger } = captureLog('info');
    const quiet = createDemoApi({ logger });
    await quiet.app.request('/demo/small');
    expect(lines).toEqual([]);
  });
});

test('every answer forbids caches, sniffing and framing', async () => {
  const { app } = createDemoApi();
  for (const path of ['/demo/small', '/nope', '/demo/broken']) {
    const { headers } = await app.request(path);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
  }
});

test('requests are counted and timed by pattern, method and status, never by path', async () => {
  const metrics = createMetricsRegistry();
  const { app } = createDemoApi({ metrics });
  await app.request(`/demo/${WALLET}/rows`);
  await app.request(`/demo/${WALLET}/rows?limit=0`);
  await app.request('/made-up-1');
  await app.request('/made-up-2', { method: 'DELETE' });
  const text = await (await app.request('/metrics')).text();
  const counter = 'chainstead_http_requests_total';
  expect(text).toContain(`${counter}{method="GET",route="/demo/:address/rows",status="200"} 1`);
  expect(text).toContain(`${counter}{method="GET",route="/demo/:address/rows",status="400"} 1`);
  expect(text).toContain(`${counter}{method="any",route="unmatched",status="404"} 2`);
  expect(text).toContain(
    'chainstead_http_request_duration_seconds_count{method="GET",route="/demo/:address/rows"} 2',
  );
  expect(text).not.toContain('made-up');
  expect(text).not.toContain(WALLET);
});

describe('compression', () => {
  const { app } = createDemoApi();

  test('is applied to large answers for clients that ask for it', async () => {
    const response = await app.request('/demo/logs', { headers: { 'accept-encoding': 'gzip, deflate' } });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('x-request-id')).toMatch(UUID);
    const body = gunzipSync(Buffer.from(await response.arrayBuffer())).toString();
    expect(JSON.parse(body)).toEqual({ text: 'x'.repeat(10_000) });
  });

  test.each([
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'gzip'],
    ['br', 'br'],
    ['gzip;q=0.5, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['ZSTD', 'zstd'],
    ['*, br;q=0', 'gzip'],
    ['gzip;q=0.5, deflate', 'deflate'],
    ['deflate, gzip', 'gzip'],
    ['*', 'gzip'],
    ['*;q=0.1, gzip;q=0', 'deflate'],
  ])('with %s is %s', async (accepted, encoding) => {
    const response = await app.request('/demo/logs', { headers: { 'accept-encoding': accepted } });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    const sent = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-length')).toBe(String(sent.byteLength));
    const body = String(DECODERS[encoding]?.(sent));
    expect(JSON.parse(body)).toEqual({ text: 'x'.repeat(10_000) });
  });

  test.each([
    ['/demo/small', 'gzip'],
    ['/demo/logs', 'identity'],
    ['/demo/logs', 'compress'],
    ['/demo/logs', 'zstd;q=0, br;q=0'],
    ['/demo/logs', '*;q=0'],
  ])('is left out for %s with %s', async (path, accepted) => {
    const response = await app.request(path, { headers: { 'accept-encoding': accepted } });
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(response.status).toBe(200);
    expect(Object.keys((await response.json()) as object)).toHaveLength(1);
  });

  test.each(['gzip;q=0', '*;q=0', 'identity'])('with %s reads no body before the client', async (accepted) => {
    let read = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      read += 1;
      controller.enqueue(new Uint8Array(10_000));
      if (read === 2) controller.close();
    };
    const streamed: RouteModule = (routes) => {
      const headers = { 'content-type': 'application/json' };
      routes.get('/streamed', (c) => c.body(new ReadableStream({ pull }, { highWaterMark: 0 }), 200, headers));
    };
    const own = createDemoApi({ routes: [streamed] });
    const response = await own.app.request('/streamed', {
      headers: { 'accept-encoding': accepted, 'x-api-key': 'any' },
    });
    expect([response.status, read]).toEqual([200, 0]);
    expect((await response.arrayBuffer()).byteLength).toBe(20_000);
  });
});

describe('probes', () => {
  test('cost one scrape a second, however many scrape', async () => {
    let scrapes = 0;
    const metrics = createMetricsRegistry();
    new Gauge({
      name: 'scrapes',
      help: 'Counts',
      registers: [metrics],
      collect: () => {
        scrapes += 1;
      },
    });
    const { app } = createDemoApi({ metrics });
    const texts = await Promise.all(
      Array.from({ length: 20 }, async () => (await app.request('/metrics')).text()),
    );
    expect([scrapes, new Set(texts).size]).toEqual([1, 1]);
  });

  test('cost one look a second, however many ask', async () => {
    let looks = 0;
    const look = async () => {
      looks += 1;
      return { ready: true, reasons: [] };
    };
    const { app } = createDemoApi({ readiness: look });
    await Promise.all(Array.from({ length: 20 }, () => app.request('/ready')));
    expect(looks).toBe(1);
  });

  test('tell that the process lives, and whether it is ready', async () => {
    const { app } = createDemoApi();
    expect(await (await app.request('/health')).json()).toEqual({ status: 'ok' });
    const ready = await app.request('/ready');
    expect(ready.status).toBe(200);
    expect(await ready.json()).toEqual({ status: 'ready' });
    const notes = ['a newer version has migrated the database'];
    const noted = createDemoApi({ readiness: async () => ({ ready: true, reasons: [], notes }) });
    const response = await noted.app.request('/ready');
    expect([response.status, await response.json()]).toEqual([200, { status: 'ready', notes }]);
  });

  test('say why it is not ready, also when that could not be found out', async () => {
    const reasons = ['eth lags 70 blocks', 'database is away'];
    const lagging = createDemoApi({ readiness: async () => ({ ready: false, reasons }) });
    const response = await lagging.app.request('/ready');
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      message: 'Not ready: eth lags 70 blocks; database is away',
      details: { reasons },
    });
    // With a separate check of the lag, it may be ready meanwhile.
    const serving = createDemoApi({
      synchronization: async () => ({ ready: false, reasons: ['eth lags 70 blocks'] }),
    });
    expect((await serving.app.request('/ready')).status).toBe(200);
    const lag = await serving.app.request('/synced');
    expect([lag.status, await lag.json()]).toEqual([
      503,
      { message: 'Not caught up: eth lags 70 blocks', details: { reasons: ['eth lags 70 blocks'] } },
    ]);
    expect(lag.headers.get('retry-after')).not.toBeNull();
    const broken = createDemoApi({ readiness: () => Promise.reject(new Error('timeout')) });
    expect((await broken.app.request('/ready')).status).toBe(503);
    const silent = createDemoApi({ readiness: async () => ({ ready: false, reasons: [] }) });
    expect((await silent.app.request('/ready')).status).toBe(503);
  });
});
