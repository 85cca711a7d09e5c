import { afterEach, describe, expect, it } from 'vitest';
import { createFaults, type FaultSettings } from './faults.ts';
import type { RpcHandler } from './json-rpc-reply.ts';
import { type JsonRpcServer, startJsonRpcServer } from './json-rpc-server.ts';
import { postJson } from './rpc-client.ts';

let server: JsonRpcServer | null = null;

async function start(faults: Partial<FaultSettings> = {}): Promise<JsonRpcServer> {
  const handlers = new Map<string, RpcHandler>([
    ['echo', (params) => ({ result: params })],
    ['ready', () => ({ json: ['{"spaced" : ', Buffer.from('"as it is"'), '}'] })],
    ['refuse', () => ({ error: { code: -32614, message: 'limited' }, httpStatus: 413 })],
    ['throws', () => Promise.reject(new Error('broken'))],
  ]);
  server = await startJsonRpcServer({ handlers, faults: createFaults(1, faults) });
  return server;
}

const call = (method: string, id = 1): object => ({ jsonrpc: '2.0', id, method, params: [id] });

async function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });
}

afterEach(async () => {
  await server?.close();
  server = null;
});

describe('startJsonRpcServer', () => {
  it('answers single calls and batches in order', async () => {
    const { url } = await start();
    expect(await postJson(url, call('echo', 5))).toEqual({ jsonrpc: '2.0', id: 5, result: [5] });
    expect(await postJson(url, [call('echo', 1), call('nope', 2), call('echo', 3)])).toEqual([
      { jsonrpc: '2.0', id: 1, result: [1] },
      {
        jsonrpc: '2.0',
        id: 2,
        error: { code: -32601, message: 'the method nope does not exist/is not available' },
      },
      { jsonrpc: '2.0', id: 3, result: [3] },
    ]);
  });

  it('writes ready JSON to the socket as it is', async () => {
    const { url } = await start();
    const text = await (await post(url, [call('ready'), call('echo', 2)])).text();
    expect(text).toBe(
      '[{"jsonrpc":"2.0","id":1,"result":{"spaced" : "as it is"}},{"jsonrpc":"2.0","id":2,"result":[2]}]',
    );
  });

  it('answers an error with its HTTP status, a throw as -32603, bad JSON as -32700', async () => {
    const { url } = await start();
    const refused = await post(url, call('refuse'));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ error: { code: -32614 } });
    expect(await postJson(url, call('throws'))).toMatchObject({ error: { code: -32603, message: 'broken' } });
    expect(await (await post(url, '{not json')).json()).toMatchObject({ error: { code: -32700 } });
  });

  it('counts calls by method and bytes, and is steered over HTTP', async () => {
    const { url, counters } = await start();
    const body = await (await post(url, [call('echo'), call('echo')])).text();
    expect(counters.snapshot()).toMatchObject({
      httpRequests: 1,
      batches: 1,
      calls: { echo: 2 },
      bytesSent: body.length,
    });
    await fetch(`${url}/faults`, { method: 'POST', body: JSON.stringify({ errorRate: 1 }) });
    expect(await postJson(url, call('echo'))).toMatchObject({ error: { code: -32603 } });
    expect(await (await fetch(`${url}/counters`)).json()).toMatchObject({
      calls: { echo: 3 },
      injected: { error: 1 },
    });
    await fetch(`${url}/counters/reset`, { method: 'POST' });
    expect(counters.snapshot()).toMatchObject({ httpRequests: 0, calls: {}, bytesSent: 0 });
  });
});

describe('faults of the transport', () => {
  it('waits as long as the latency says', async () => {
    const { url } = await start({ latencyMs: 60 });
    const before = performance.now();
    await postJson(url, call('echo'));
    expect(performance.now() - before).toBeGreaterThanOrEqual(59);
  });

  it('answers errors in the given share, the same ones for the same seed', async () => {
    const outcomes: string[] = [];
    for (let run = 0; run < 2; run++) {
      const { url, faults, close } = await start({
        errorRate: 0.3,
        errorBodies: [{ code: -32000, message: 'busy' }],
      });
      const answers = await postJson(
        url,
        Array.from({ length: 200 }, (_, id) => call('echo', id)),
      );
      outcomes.push((answers as object[]).map((answer) => ('error' in answer ? 'x' : '.')).join(''));
      expect(faults.injected.error).toBeGreaterThan(40);
      expect(faults.injected.error).toBeLessThan(80);
      await close();
    }
    expect(outcomes[0]).toBe(outcomes[1]);
  });

  it('hits only the methods that it is aimed at', async () => {
    const { url } = await start({ errorRate: 1, notJsonRate: 0, methods: ['ready'] });
    expect(await postJson(url, call('echo'))).toHaveProperty('result');
    expect(await postJson(url, call('ready'))).toHaveProperty('error');
  });

  it('never answers a request that hangs', async () => {
    const { url, faults } = await start({ hangRate: 1 });
    await expect(fetch(url, { method: 'POST', body: '{}', signal: AbortSignal.timeout(150) })).rejects.toThrow(
      'timeout',
    );
    faults.set({ hangRate: 0 });
    expect(await postJson(url, call('echo'))).toHaveProperty('result');
  });

  it('answers HTML, or an HTTP status', async () => {
    const { url, faults } = await start({ notJsonRate: 1 });
    await expect(postJson(url, call('echo'))).rejects.toThrow(SyntaxError);
    faults.set({ notJsonRate: 0, httpStatus: { rate: 1, status: 503, body: 'no backend is currently healthy' } });
    const answer = await post(url, call('echo'));
    expect([answer.status, await answer.text()]).toEqual([503, 'no backend is currently healthy']);
  });

  it('cuts the JSON or the connection', async () => {
    const { url, faults } = await start({ truncate: { rate: 1, style: 'json' } });
    const cut = await (await post(url, call('echo'))).text();
    expect(cut).toBe('{"jsonrpc":"2.0","id":1,"result":[1]}'.slice(0, 18));
    faults.set({ truncate: { rate: 1, style: 'connection' } });
    await expect(post(url, call('echo')).then((answer) => answer.text())).rejects.toThrow();
  });

  it('refuses batches', async () => {
    const { url } = await start({ noBatch: true });
    expect(await postJson(url, [call('echo')])).toMatchObject({ error: { code: -32600 } });
    expect(await postJson(url, call('echo'))).toHaveProperty('result');
  });

  it.each([
    ['rpc-32005', { code: -32005, message: 'project ID request rate exceeded' }],
    ['rpc-429-in-200', { code: 429, message: 'Your app has exceeded its compute units per second capacity.' }],
  ] as const)('throttles by %s', async (style, error) => {
    const { url } = await start({ throttle: { style, rate: 1 } });
    const answer = await post(url, call('echo'));
    expect([answer.status, await answer.json()]).toEqual([200, { jsonrpc: '2.0', id: 1, error }]);
  });

  it('throttles by HTTP 429 with Retry-After, above so many calls in a second', async () => {
    const { url, faults } = await start({
      throttle: { style: 'http-429', callsPerSecond: 3, retryAfterSeconds: 2 },
    });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, id) => post(url, call('echo', id))));
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(6);
    expect(refused.length).toBeLessThan(12);
    expect(refused[0]?.headers.get('retry-after')).toBe('2');
    expect(faults.injected.throttle).toBe(refused.length);
  });
});
