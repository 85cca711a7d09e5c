import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { afterEach, describe, expect, test } from 'vitest';
import { type ApiServer, serveApi } from '../serve.ts';
import { createDemoApi, fixedKeys } from '../testing/demo-api.ts';
import { createRawGate, type RawGate, type RawHandler } from './raw-gate.ts';

const servers: ApiServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const metrics = createMetricsRegistry();

function gateOf(
  options: { readonly keys?: readonly string[]; readonly origins?: '*' | readonly string[] } = {},
): RawGate {
  return createRawGate({
    host: '127.0.0.1',
    keys: fixedKeys(...(options.keys ?? [])),
    cors: { origins: options.origins ?? '*' },
    logger: silentLogger(),
    metrics,
  });
}

describe('a raw handler', () => {
  test('answers what it takes and leaves the rest to the router, under shared metrics', async () => {
    const gate = gateOf();
    const rawHandler: RawHandler = (incoming, outgoing) => {
      if (incoming.url !== '/raw/secret') return false;
      const requestId = gate.requestId(incoming.headers);
      outgoing.writeHead(200, ['x-request-id', requestId]);
      outgoing.end('taken');
      gate.log({ requestId, method: 'GET', route: '/raw/:key', status: 200, durationMs: 1, keyId: undefined });
      return true;
    };
    const server = await serveApi(createDemoApi({ metrics }).app, { host: '127.0.0.1', port: 0, rawHandler });
    servers.push(server);
    const taken = await fetch(`${server.url}/raw/secret`, { headers: { 'x-request-id': 'mine' } });
    expect([await taken.text(), taken.headers.get('x-request-id')]).toEqual(['taken', 'mine']);
    expect(await (await fetch(`${server.url}/demo/small`)).json()).toEqual({ ok: true });
    const text = await metrics.metrics();
    expect(text).toContain('chainstead_http_requests_total{method="GET",route="/raw/:key",status="200"} 1');
    expect(text).toContain('chainstead_http_requests_total{method="GET",route="/demo/small",status="200"} 1');
    expect(text).not.toContain('secret');
  });
});

describe('the gate', () => {
  test('gives each request an id of its own, and keeps a harmless one', () => {
    const gate = gateOf();
    const ids = Array.from({ length: 100 }, () => gate.requestId({}));
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(gate.requestId({ 'x-request-id': 'client-1' })).toBe('client-1');
    expect(gate.requestId({ 'x-request-id': 'a\nb' })).not.toContain('\n');
  });

  test('knows whether a key is needed, and who may ask without one', () => {
    expect(gateOf({ keys: ['some-key-0'] }).isOpen()).toBe(false);
    const gate = gateOf();
    expect(gate.isOpen()).toBe(true);
    expect(gate.refusal({ host: 'localhost:8080' })).toBeNull();
    expect(gate.refusal({ host: 'rebound.example' })?.status).toBe(403);
    expect(gate.refusal({ host: 'localhost', origin: 'https://evil.example' })?.status).toBe(403);
    expect(gate.refusal({ host: 'localhost', 'sec-fetch-site': 'cross-site' })?.status).toBe(403);
    expect(gate.refusal({})?.status).toBe(403);
  });

  test('lets allowed pages read answers', () => {
    const origin = 'https://app.example.com';
    expect(gateOf().corsHeaders(origin, false).slice(0, 2)).toEqual(['access-control-allow-origin', '*']);
    expect(gateOf({ origins: [origin] }).corsHeaders(origin, false)).toEqual(
      expect.arrayContaining(['access-control-allow-origin', origin, 'vary', 'Origin']),
    );
    expect(gateOf({ origins: [origin] }).corsHeaders('https://other.example.com', false)).toEqual([
      'vary',
      'Origin',
    ]);
  });

  test('lets pages of this machine read answers of a server without keys, whatever CORS_ORIGINS names', () => {
    const local = 'http://localhost:5173';
    for (const origins of ['*', ['https://app.example.com']] as const) {
      expect(gateOf({ origins }).corsHeaders(local, true).slice(0, 2)).toEqual([
        'access-control-allow-origin',
        local,
      ]);
      expect(gateOf({ origins }).corsHeaders('https://app.example.com', true)).toEqual(['vary', 'Origin']);
    }
  });
});

describe('a path that may hold a key', () => {
  test('is not repeated in an error', async () => {
    const { app } = createDemoApi();
    for (const [path, shown] of [
      ['/nochain/0123456789abcdef0123456789abcdef', '/nochain/…'],
      ['/nochain/0123456789abcdef/more', '/nochain/…'],
      ['//nochain/0123456789abcdef', '/nochain/…'],
      ['/nochain//0123456789abcdef', '/nochain/…'],
      ['/nochain%2F0123456789abcdef', '/nochain%2F…'],
    ] as const) {
      const response = await app.request(`http://localhost${path}`, { method: 'POST' });
      const body = await response.text();
      expect([response.status, body]).toEqual([404, expect.stringContaining(shown)]);
      expect(body).not.toContain('0123456789abcdef');
    }
  });
});
