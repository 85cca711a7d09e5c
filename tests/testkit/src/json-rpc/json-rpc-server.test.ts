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

  it('never answers a request that hangs', async () => {
    const { url, faults } = await start({ hangRate: 1 });
    await expect(fetch(url, { method: 'POST', body: '{}', signal: AbortSignal.timeout(150) })).rejects.toThrow(
      'timeout',
    );
    faults.set({ hangRate: 0 });
    expect(await postJson(url, call('echo'))).toHaveProperty('result');
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
