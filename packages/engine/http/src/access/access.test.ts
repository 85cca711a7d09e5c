import { describe, expect, test } from 'vitest';
import type { RouteModule } from '../api-dependencies.ts';
import { withScope } from '../api-dependencies.ts';
import { ALL_SCOPES, type KeyScope } from '../keys/key-store.ts';
import { createDemoApi, fixedKeys, WALLET } from '../testing/demo-api.ts';
import { notedLimits } from '../testing/noted-limits.ts';
import { keyOf } from './authentication.ts';

const KEY = 'accepted-key';
const rows = `/demo/${WALLET}/rows`;

// Invariant: FAIR-KEYS
test('the request of a key passes those that another key sent at once', async () => {
  const { app } = createDemoApi({ keys: fixedKeys('loud', 'quiet') });
  const answered: string[] = [];
  const ask = async (key: string): Promise<void> => {
    await app.request(rows, { headers: { 'x-api-key': key } });
    answered.push(key);
  };
  await Promise.all([...Array.from({ length: 50 }, () => ask('loud')), ask('quiet')]);
  expect(answered.indexOf('quiet')).toBeLessThan(5);
  expect(answered).toHaveLength(51);
});

describe('with a key configured', () => {
  const { app } = createDemoApi({ keys: fixedKeys(KEY) });

  test.each([
    ['X-API-Key', { 'X-API-Key': KEY }],
    ['x-api-key', { 'x-api-key': KEY }],
    ['Authorization: Bearer', { authorization: `Bearer ${KEY}` }],
    ['authorization: bearer', { authorization: `bearer  ${KEY}` }],
    ['both, as the official SDK', { 'x-api-key': KEY, authorization: `Bearer ${KEY}` }],
  ])('a request passes with it in %s', async (_name, headers) => {
    expect((await app.request(rows, { headers })).status).toBe(200);
  });

  test.each([
    ['none', {}, 'API key is missing: send it in the X-API-Key header or as Authorization: Bearer'],
    [
      'an empty one',
      { 'x-api-key': '' },
      'API key is missing: send it in the X-API-Key header or as Authorization: Bearer',
    ],
    ['another one', { 'x-api-key': 'another-key' }, 'Invalid key'],
    ['one with a space behind', { authorization: `Bearer ${KEY} x` }, 'Invalid key'],
    ['two', { 'x-api-key': `${KEY}, ${KEY}` }, 'Invalid key'],
    ['basic authentication', { authorization: 'Basic YTpi' }, 'Invalid key'],
    [
      'a wrong X-API-Key beside a right bearer',
      { 'x-api-key': 'wrong-key', authorization: `Bearer ${KEY}` },
      'Invalid key',
    ],
    ['a long one', { 'x-api-key': 'k'.repeat(5_000) }, 'Invalid key'],
    ['SQL for a key', { 'x-api-key': "' OR '1'='1" }, 'Invalid key'],
  ])('401 with %s', async (_name, headers, message) => {
    const response = await app.request(rows, { headers: { ...headers } });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="chainstead"');
    expect(await response.json()).toEqual({ message });
  });

  test('the key is asked for before parameters are looked at, and not for what does not exist', async () => {
    expect((await app.request(`${rows}?limit=0`)).status).toBe(401);
    expect((await app.request('/nope')).status).toBe(404);
    expect((await app.request(rows, { method: 'POST' })).status).toBe(405);
  });

  test.each(['/health', '/ready', '/metrics', '/openapi.json', '/docs', '/docs/reference.css'])(
    '%s needs no key',
    async (path) => {
      expect((await app.request(path)).status).toBe(200);
    },
  );

  test.each([`/${rows}`, rows.replace('/rows', '//rows'), `${rows}/`, `${rows}//`])(
    '%s is served as the path without surplus slashes, under the same key check',
    async (path) => {
      const ask = (headers: Record<string, string>) => app.request(`http://localhost${path}`, { headers });
      expect((await ask({ 'x-api-key': KEY })).status).toBe(200);
      expect((await ask({})).status).toBe(401);
    },
  );

  test('another version of the data API is answered with the one that is served', async () => {
    for (const path of ['/api/v2/0x1/erc20/transfers', '/api/v3/nft', '/api/0x1/erc20'])
      expect(await (await app.request(path)).json()).toEqual({
        message: `No route for GET ${path}: the data API is served at /api/v2.2`,
      });
    expect(await (await app.request('/api/v2.2/no-such')).json()).toEqual({
      message: 'No route for GET /api/v2.2/no-such',
    });
  });

  test('any Host is answered, and web pages may read answers', async () => {
    const response = await app.request(rows, {
      headers: { host: 'api.example.com', origin: 'https://app.example.com', 'x-api-key': KEY },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
    expect(response.headers.get('x-request-id')).not.toBeNull();
  });

  test('web pages read errors, too', async () => {
    const response = await app.request(rows, { headers: { origin: 'https://app.example.com' } });
    expect(response.status).toBe(401);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });

  test('a preflight is answered without a key', async () => {
    const response = await app.request(rows, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-api-key,x-moralis-build-target,x-moralis-platform',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-headers')?.split(',')).toEqual([
      'x-api-key',
      'x-moralis-build-target',
      'x-moralis-platform',
    ]);
    expect(response.headers.get('access-control-allow-methods')).toContain('GET');
  });

  test('only listed origins may read answers where there is a list', async () => {
    const listed = createDemoApi({ keys: fixedKeys(KEY), cors: { origins: ['https://app.example.com'] } });
    const ask = (origin: string) => listed.app.request(rows, { headers: { origin, 'x-api-key': KEY } });
    expect((await ask('https://app.example.com')).headers.get('access-control-allow-origin')).toBe(
      'https://app.example.com',
    );
    expect((await ask('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
  });

  test('open routes check keys themselves', async () => {
    const gateway: RouteModule = (api) => {
      api.get('/gateway/:key', (c) => c.json({ key: keyOf(c) ?? null }));
    };
    const both = createDemoApi({ keys: fixedKeys(KEY), openRoutes: [gateway] });
    expect((await both.app.request('/gateway/anything')).status).toBe(200);
    expect((await both.app.request(rows)).status).toBe(401);
  });
});

describe('without any key', () => {
  const { app } = createDemoApi();

  test.each([
    'localhost',
    'localhost:8080',
    'LOCALHOST:80',
    'api.localhost',
    '127.0.0.1:8080',
    '127.9.9.9',
    '[::1]:8080',
    '[::1]',
  ])('Host %s is answered', async (host) => {
    expect((await app.request(rows, { headers: { host } })).status).toBe(200);
  });

  test.each([
    'example.com',
    'localhost.example.com',
    'notlocalhost',
    '127.0.0.1.nip.io',
    '127.0.0.1.example.com:8080',
    '192.168.1.10:8080',
    '0.0.0.0',
    '[::ffff:7f00:2]',
    '[fe80::1]',
    'localhost@example.com',
    'localhost:80:80',
    '',
  ])('Host %j is refused (DNS rebinding)', async (host) => {
    const response = await app.request(rows, { headers: { host } });
    expect(response.status).toBe(403);
    expect(((await response.json()) as { message: string }).message).toContain(
      `Host ${JSON.stringify(host)} is not allowed`,
    );
  });

  test('the guard also holds for metrics and documentation', async () => {
    for (const path of ['/metrics', '/openapi.json', '/docs', '/health', '/nope'])
      expect((await app.request(path, { headers: { host: 'evil.example' } })).status).toBe(403);
  });

  test.each([
    'http://localhost:3000',
    'https://localhost',
    'http://app.localhost:8000',
    'http://127.0.0.1:5173',
    'http://[::1]:5173',
  ])('a page of %s on this machine may read responses', async (origin) => {
    const local = await app.request(rows, { headers: { origin } });
    expect([local.status, local.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    expect(local.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
    expect(local.headers.get('vary')).toContain('Origin');
    const preflight = await app.request(rows, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'content-type,x-moralis-platform',
      },
    });
    const { headers } = preflight;
    expect([preflight.status, headers.get('access-control-allow-origin')]).toEqual([204, origin]);
    expect(headers.get('access-control-allow-headers')).toBe('content-type,x-moralis-platform');
  });

  test.each([
    'https://evil.example',
    'null',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'ftp://localhost',
  ])('a page of %s gets no response', async (origin) => {
    for (const method of ['GET', 'OPTIONS']) {
      const foreign = await app.request(rows, {
        method,
        headers: { origin, 'access-control-request-method': 'GET' },
      });
      expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    }
  });

  test('what a foreign page has loaded or submitted without an Origin is refused, but for what a link may lead to', async () => {
    const ask = async (path: string, site: string, own: Record<string, string> = {}) =>
      (await app.request(path, { headers: { 'sec-fetch-site': site, ...own } })).status;
    expect(await ask(rows, 'cross-site')).toBe(403);
    for (const path of ['/metrics', '/ready', '/openapi.json', '/nope', '/docs-of-others'])
      expect([path, await ask(path, 'cross-site')]).toEqual([path, 403]);
    for (const site of ['same-origin', 'same-site', 'none']) expect(await ask(rows, site)).toBe(200);
    for (const path of ['/health', '/docs', '/docs/reference.js'])
      expect(await ask(path, 'cross-site')).toBe(200);
    expect(await ask(rows, 'cross-site', { origin: 'http://localhost:3000' })).toBe(200);
    const keyed = createDemoApi({ keys: fixedKeys(KEY) });
    const linked = await keyed.app.request(rows, {
      headers: { 'x-api-key': KEY, 'sec-fetch-site': 'cross-site' },
    });
    expect(linked.status).toBe(200);
  });

  test('a server that others can reach answers nobody', async () => {
    const reachable = createDemoApi({ host: '0.0.0.0' });
    expect((await reachable.app.request(rows, { headers: { host: 'localhost' } })).status).toBe(401);
  });
});

describe('what needs no key', () => {
  test('needs one where that is configured: a key of its own for metrics, any for the documentation', async () => {
    const metricsKey = 'key-of-prometheus';
    const { app } = createDemoApi({
      keys: fixedKeys(KEY),
      protection: { metricsKey, opensMetrics: false, docs: true },
    });
    const ask = async (path: string, headers: Record<string, string> = {}) =>
      (await app.request(path, { headers })).status;
    expect([await ask('/metrics'), await ask('/metrics', { 'x-api-key': KEY })]).toEqual([401, 401]);
    expect(await ask('/metrics', { authorization: `Bearer ${metricsKey}` })).toBe(200);
    expect(await ask(rows, { 'x-api-key': metricsKey })).toBe(401);
    const basic = { authorization: `Basic ${Buffer.from(`anybody:${KEY}`).toString('base64')}` };
    for (const path of ['/docs', '/docs/reference.js', '/openapi.json']) {
      const refused = await app.request(path);
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        401,
        'Basic realm="chainstead"',
      ]);
      expect([await ask(path, basic), await ask(path, { 'x-api-key': KEY })]).toEqual([200, 200]);
    }
    expect(await ask('/health')).toBe(200);
  });

  const page = { host: 'localhost:9000', origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  const rebound = { host: 'evil.example:9000', 'sec-fetch-site': 'same-origin' };
  const local = { host: 'localhost:9000', origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' };
  const scraper = { host: '127.0.0.1:9000' };

  test('is not readable by web pages on a loopback address with keys, also after DNS rebinding', async () => {
    const { app } = createDemoApi({ keys: fixedKeys(KEY) });
    for (const path of ['/metrics', '/docs', '/docs/reference.css', '/openapi.json', '/ready', '/synced']) {
      const statuses = [page, rebound, local, scraper].map(
        async (headers) => (await app.request(path, { headers })).status,
      );
      expect([path, ...(await Promise.all(statuses))]).toEqual([path, 403, 403, 200, 200]);
    }
    expect((await app.request(rows, { headers: { ...page, 'x-api-key': KEY } })).status).toBe(200);
    expect((await app.request('/health', { headers: rebound })).status).toBe(200);
  });

  test('is readable by all if the address is', async () => {
    const { app } = createDemoApi({ keys: fixedKeys(KEY), host: '0.0.0.0' });
    for (const path of ['/docs', '/openapi.json', '/ready'])
      expect((await app.request(path, { headers: { ...page, host: 'api.example' } })).status).toBe(200);
  });

  test('has no guard where a key is needed', async () => {
    const protection = { metricsKey: 'key-of-prometheus', opensMetrics: false, docs: true };
    const { app } = createDemoApi({ keys: fixedKeys(KEY), protection });
    for (const [path, key] of [
      ['/openapi.json', KEY],
      ['/metrics', protection.metricsKey],
    ] as const)
      expect((await app.request(path, { headers: { host: 'api.example', 'x-api-key': key } })).status).toBe(200);
  });
});

describe('metrics without a key of their own', () => {
  const ask = async (opensMetrics: boolean, headers: Record<string, string>) => {
    const protection = { metricsKey: null, opensMetrics, docs: false };
    const { app } = createDemoApi({ keys: fixedKeys(KEY), host: '0.0.0.0', protection });
    return app.request('/metrics', { headers });
  };

  test('are closed to every key where other machines reach them, and say what opens them', async () => {
    for (const headers of [{}, { 'x-api-key': KEY }]) {
      const response = await ask(false, { ...headers });
      expect([response.status, await response.text()]).toEqual([
        403,
        expect.stringMatching(/METRICS_KEY.*METRICS_PORT/),
      ]);
    }
  });

  test('are open where they are meant to be', async () => {
    expect((await ask(true, {})).status).toBe(200);
  });
});

describe('metrics on another port', () => {
  test('are not here, with their key or without, and the document does not name them', async () => {
    const metricsKey = 'key-of-prometheus';
    const { app } = createDemoApi({
      keys: fixedKeys(KEY),
      servesMetrics: false,
      protection: { metricsKey, opensMetrics: false, docs: false },
    });
    for (const headers of [{}, { 'x-api-key': metricsKey }, { 'x-api-key': KEY }])
      expect((await app.request('/metrics', { headers: { ...headers } })).status).toBe(404);
    expect((await app.request('/ready')).status).toBe(200);
    const document = (await (await app.request('/openapi.json')).json()) as { paths: Record<string, unknown> };
    expect(Object.keys(document.paths)).not.toContain('/metrics');
  });
});

describe('a key of some scopes', () => {
  const keys = {
    ...fixedKeys(),
    inUse: () => true,
    verify: (key: string) => ({ id: key, name: key, scopes: new Set(key.split('-') as KeyScope[]) }),
  };
  const answering =
    (path: string): RouteModule =>
    (app) => {
      app.get(path, (c) => c.json({}));
    };
  const { app } = createDemoApi({
    keys,
    routes: [
      withScope('data', [answering('/data'), answering('/data/:id')]),
      withScope('streams', [answering('/streams')]),
      answering('/anything'),
    ],
  });
  const ask = async (path: string, key: string) =>
    (await app.request(path, { headers: { 'x-api-key': key } })).status;

  test.each([
    ['/data', 'data', 200],
    ['/data/7', 'data', 200],
    ['/data', 'rpc-streams-admin', 403],
    ['/streams', 'streams', 200],
    ['/streams', 'data-rpc-admin', 403],
    ['/anything', 'admin', 200],
    ['/anything', 'data-rpc-streams', 403],
    ['/nope', 'rpc', 404],
  ])('%s with %s: %d', async (path, key, status) => {
    expect(await ask(path, key)).toBe(status);
  });

  test('is told which one is missing, and how to allow it', async () => {
    const response = await app.request('/streams', { headers: { 'x-api-key': 'data-rpc' } });
    expect(await response.json()).toEqual({
      message:
        'This API key lacks the scope "streams" (it has: data, rpc). Run: chainstead keys scope data-rpc --scope data,rpc,streams',
      details: { scope: 'streams', scopes: ['data', 'rpc'] },
    });
    const configured = createDemoApi({
      keys: { ...keys, verify: () => ({ id: 'config:2', name: '', scopes: new Set(['rpc' as const]) }) },
    });
    const refused = await configured.app.request('/demo/small', { headers: { 'x-api-key': 'some-key' } });
    expect(await refused.json()).toMatchObject({
      message: 'This API key lacks the scope "admin" (it has: rpc). Add :rpc+admin after the key in API_KEYS',
    });
  });
});

describe('the rate limit', () => {
  const limits = { bodyBytesMax: 1_000, pageLimitMax: 50, requestTimeoutMs: 30_000 };

  test('is off by default', async () => {
    const { app } = createDemoApi();
    for (let i = 0; i < 50; i++) expect((await app.request('/demo/small')).status).toBe(200);
  });

  test('answers 429 with Retry-After, per key, and leaves probes alone', async () => {
    const keys = {
      ...fixedKeys(),
      inUse: () => true,
      verify: (key: string) => ({ id: `id of ${key}`, name: key, scopes: ALL_SCOPES }),
    };
    const sharedLimits = notedLimits();
    const rateLimit = { requests: 3, windowSeconds: 30 };
    const { app } = createDemoApi({ keys, limits: { ...limits, rateLimit }, sharedLimits });
    const ask = (key: string) => app.request('/demo/small', { headers: { 'x-api-key': key } });
    for (let i = 0; i < 3; i++) expect((await ask('first')).status).toBe(200);
    const refused = await ask('first');
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(30);
    expect(await refused.json()).toEqual({
      message: `Too many requests: try again in ${seconds} s`,
      details: { retry_after_seconds: seconds },
    });
    expect((await ask('second')).status).toBe(200);
    expect((await app.request('/health')).status).toBe(200);
    expect(sharedLimits.buckets).toEqual(new Set(['api:id of first', 'api:id of second']));
  });
});
