import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { bytesOfValues, createByteBudget } from '@chainstead/http/server';
import { notedLimits } from '@chainstead/http/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Outcome } from '../call.ts';
import { findMethod, METHOD_NAMES } from '../methods/method-table.ts';
import { FOUR_CALLS, fourCallsOf, WEIGHT_OF_FOUR } from '../testing/four-calls.ts';
import {
  type GatewayStage,
  result,
  STAGE_KEY,
  type StageOptions,
  startGatewayStage,
} from '../testing/gateway-stage.ts';

const stages: GatewayStage[] = [];

afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

async function start(options: Partial<StageOptions> = {}): Promise<GatewayStage> {
  const stage = await startGatewayStage({ answer: () => result('0x1'), keys: [STAGE_KEY], ...options });
  stages.push(stage);
  return stage;
}

const CALL = { jsonrpc: '2.0', id: 'x', method: 'eth_blockNumber', params: [] };
const LIMITED = { jsonrpc: '2.0', error: { code: -32_005, message: 'Rate limit exceeded' }, id: 'x' };

describe('a key', () => {
  test.each([
    ['short', 'Token is invalid format'],
    ['with%20space0', 'Token is invalid format'],
    ['x'.repeat(129), 'Token is invalid format'],
    ['f'.repeat(32), 'Node Key not valid'],
    ['unknown-key', 'Node Key not valid'],
  ])('%s is refused with: %s', async (key, message) => {
    const stage = await start();
    const response = await stage.post(CALL, { key });
    expect([response.status, await response.json()]).toEqual([401, { message }]);
  });

  test('is taken with a query or a slash behind it', async () => {
    const stage = await start();
    for (const key of [STAGE_KEY, `${STAGE_KEY}/`, `${STAGE_KEY}?a=b`])
      expect((await stage.post(CALL, { key })).status).toBe(200);
  });

  test('is in no log line, metric or error', async () => {
    const stage = await start({ answer: () => Promise.reject(new Error('fails')) });
    const answers = [
      await stage.post(CALL),
      await stage.post('{'),
      await stage.post(CALL, { slug: 'unknown' }),
      await stage.post(CALL, { key: `${STAGE_KEY}/more` }),
      await fetch(`${stage.url}/eth/${STAGE_KEY}`),
      await fetch(`${stage.url}/unknown/${STAGE_KEY}`),
      await fetch(`${stage.url}/eth/${STAGE_KEY}`, { method: 'DELETE' }),
      await stage.post('x'.repeat(200_000)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 401, 405, 404, 405, 413]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    const said = [...texts, ...stage.logLines, await stage.metrics.metrics()].join('\n');
    expect(said).not.toContain(STAGE_KEY);
    // Only the principal's id, which is not secret.
    expect(said).toContain(`"key_id":"${STAGE_KEY.slice(0, 8)}"`);
    expect(said).toContain('route="/:chain/:apiKey"');
  });
});

describe('a key without the scope rpc', () => {
  test('is told so in a JSON-RPC error, and as the status of a WebSocket', async () => {
    const stage = await start({ scopes: new Set(['data', 'streams']) });
    const message =
      'This API key lacks the scope "rpc" (it has: data, streams). Run: chainstead keys scope 01234567 --scope data,rpc,streams';
    const response = await stage.post(CALL);
    expect([response.status, await response.json()]).toEqual([
      403,
      { jsonrpc: '2.0', id: null, error: { code: 4_100, message } },
    ]);
    const socket = connect(Number(new URL(stage.url).port), '127.0.0.1');
    socket.write(
      `GET /eth/${STAGE_KEY} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
    );
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toContain(JSON.stringify({ message }));
  });
});

describe('a chain that is not offered', () => {
  const NOT_OFFERED = { code: -32_001, message: 'Chain polygon is not offered' };

  test('is told of in the answer to each call, once the key is right', async () => {
    const stage = await start();
    const ask = async (body: unknown, key = STAGE_KEY) => {
      const response = await stage.post(body, { slug: 'polygon', key });
      return [response.status, await response.json()];
    };
    expect(await ask(CALL)).toEqual([200, { jsonrpc: '2.0', id: 'x', error: NOT_OFFERED }]);
    expect(await ask([CALL, { ...CALL, id: 2 }])).toEqual([
      200,
      [
        { jsonrpc: '2.0', id: 'x', error: NOT_OFFERED },
        { jsonrpc: '2.0', id: 2, error: NOT_OFFERED },
      ],
    ]);
    expect(await ask('{')).toEqual([200, expect.objectContaining({ id: null })]);
    expect(await ask(CALL, 'unknown-key')).toEqual([401, { message: 'Node Key not valid' }]);
    expect(await ask(CALL, 'short')).toEqual([401, { message: 'Token is invalid format' }]);
    const notification = await stage.post({ ...CALL, id: undefined }, { slug: 'polygon' });
    expect([notification.status, await notification.text()]).toEqual([200, '']);
  });

  test('is told of to those who send something else than a call, or ask for a WebSocket', async () => {
    const stage = await start();
    const ask = async (method: string, path: string) => {
      const response = await fetch(stage.url + path, { method });
      return [response.status, await response.json()];
    };
    const reported = { message: NOT_OFFERED.message };
    expect(await ask('GET', `/polygon/${STAGE_KEY}`)).toEqual([404, reported]);
    expect(await ask('PUT', `/polygon/${STAGE_KEY}/`)).toEqual([404, reported]);
    expect(await ask('GET', '/polygon/unknown-key')).toEqual([401, { message: 'Node Key not valid' }]);
    const open = async (key: string) => {
      const socket = new WebSocket(`${stage.url.replace('http', 'ws')}/polygon/${key}`);
      const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
      return [answer.statusCode, await json(answer)];
    };
    expect(await open(STAGE_KEY)).toEqual([404, reported]);
    expect(await open('unknown-key')).toEqual([401, { message: 'Node Key not valid' }]);
    expect(await ask('GET', '/polygon/supportedMethods')).toEqual([404, expect.objectContaining(reported)]);
    for (const path of ['/.well-known/security.txt', '/wallets/0x1', '/polygon'])
      expect(await ask('GET', path)).toEqual([404, { message: expect.not.stringContaining('polygon is not') }]);
  });

  test('is nothing that the API has, or could have', async () => {
    const stage = await start();
    for (const slug of ['api', 'streams', 'Wallets', 'polygon/more'])
      expect((await stage.post(CALL, { slug })).status).toBe(404);
  });
});

describe('an open server', () => {
  test('takes anything for a key, from this machine only', async () => {
    const stage = await start({ keys: [] });
    expect((await stage.post(CALL, { key: 'x' })).status).toBe(200);
    const local = await stage.post(CALL, { headers: { origin: 'http://localhost:3000' } });
    expect([local.status, local.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'http://localhost:3000',
    ]);
    expect((await stage.post(CALL, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
  });
});

describe('a page', () => {
  test('may read answers of a server with keys, where its origin is allowed', async () => {
    const origin = 'https://app.example.com';
    const stage = await start({ corsOrigins: [origin] });
    const allowed = await stage.post(CALL, { headers: { origin } });
    expect(allowed.headers.get('access-control-allow-origin')).toBe(origin);
    const foreign = await stage.post(CALL, { headers: { origin: 'https://other.example.com' } });
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    const requested = await fetch(`${stage.url}/eth/${STAGE_KEY}`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-client',
      },
    });
    expect([requested.status, requested.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
    expect(requested.headers.get('access-control-allow-headers')).toBe('content-type,x-client');
  });

  test('may read the refusal of its method or key', async () => {
    const origin = 'https://app.example.com';
    const stage = await start({ corsOrigins: [origin] });
    const wrong = await fetch(`${stage.url}/eth/${STAGE_KEY}`, { method: 'PUT', headers: { origin } });
    const unknown = await stage.post(CALL, { key: 'f'.repeat(32), headers: { origin } });
    for (const [status, response] of [
      [405, wrong],
      [401, unknown],
    ] as const)
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([status, origin]);
  });
});

describe('a rate', () => {
  test('answers 429 with the id and when to come back, and counts keys apart', async () => {
    const other = 'other-key-0123';
    const sharedLimits = notedLimits();
    const stage = await start({ keys: [STAGE_KEY, other], limits: WEIGHT_OF_FOUR, sharedLimits });
    for (let sent = 0; sent < 4; sent += 1) expect((await stage.post(CALL)).status).toBe(200);
    const refused = await stage.post(CALL);
    expect([refused.status, await refused.json()]).toEqual([429, LIMITED]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await stage.post(CALL, { key: other })).status).toBe(200);
    // The store of limits contains only the ids of keys.
    expect(sharedLimits.buckets).toEqual(new Set([STAGE_KEY, other].map((key) => `rpc:${key.slice(0, 8)}`)));
  });

  test('is spent by what is no call, too', async () => {
    for (const body of ['{', { ...CALL, jsonrpc: '1.0' }, { ...CALL, method: 'eth_sign' }]) {
      const stage = await start({ limits: WEIGHT_OF_FOUR });
      for (let sent = 0; sent < 4; sent += 1) expect((await stage.post(body)).status).not.toBe(429);
      expect((await stage.post(body)).status).toBe(429);
      expect((await stage.post(CALL)).status).toBe(429);
    }
  });

  test('of all calls counts each as one, whatever it weighs', async () => {
    const stage = await start({ limits: FOUR_CALLS });
    const heavy = { ...CALL, method: 'eth_sendRawTransaction', params: ['0x00'] };
    for (let sent = 0; sent < 4; sent += 1) expect((await stage.post(heavy)).status).toBe(200);
    expect((await stage.post(heavy)).status).toBe(429);
  });

  test('of a method holds for it alone, and fails only items of a batch', async () => {
    const stage = await start({ limits: fourCallsOf('eth_blockNumber') });
    const chainId = { ...CALL, method: 'eth_chainId' };
    const response = await stage.post([CALL, CALL, CALL, CALL, CALL, chainId]);
    expect(response.status).toBe(200);
    const answered = { jsonrpc: '2.0', id: 'x', result: '0x1' };
    expect(await response.json()).toEqual([answered, answered, answered, answered, LIMITED, answered]);
  });
});

describe('a body', () => {
  test('above the limit is refused before it is read', async () => {
    const stage = await start();
    const socket = connect(Number(new URL(stage.url).port), '127.0.0.1');
    socket.write(`POST /eth/${STAGE_KEY} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100001\r\n\r\n`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  test('in chunks above the limit is refused', async () => {
    const stage = await start();
    const socket = connect(Number(new URL(stage.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    socket.write(
      `POST /eth/${STAGE_KEY} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${piece}${piece}`,
    );
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });
});

describe('a body of more values than are parsed', () => {
  test.each([
    ['nested too deep', `${'['.repeat(65)}${']'.repeat(65)}`, /nested deeper than 64 levels/],
    ['too many', `[${'{},'.repeat(30_000)}{}]`, /A batch may hold 20 requests/],
    ['far too many', `[${'0,'.repeat(49_999)}0]`, /holds more than 50000 values/],
  ])('%s is refused by its reason', async (_, body, reason) => {
    const bodies = createByteBudget(64_000_000);
    const stage = await start({ limits: { bodies, bodyBytesMax: 1_000_000 } });
    const response = await fetch(`${stage.url}/eth/${STAGE_KEY}`, { method: 'POST', body });
    expect([response.status, await response.text()]).toEqual([400, expect.stringMatching(reason)]);
    expect(bodies.used).toBe(0);
  });

  test('takes room of its key until its call is answered', async () => {
    const requested = Promise.withResolvers<void>();
    const held = Promise.withResolvers<Outcome>();
    const bodies = createByteBudget(100_000);
    const stage = await start({
      limits: { bodies },
      answer: () => {
        requested.resolve();
        return held.promise;
      },
    });
    const body = { ...CALL, more: Array(100).fill([]) };
    const answered = stage.post(body);
    await requested.promise;
    const { length } = JSON.stringify(body);
    expect(bodies.used).toBe(length + bytesOfValues(106, length));
    held.resolve({ ok: true, result: Buffer.from('1'), cached: false });
    await (await answered).text();
    expect(bodies.used).toBe(0);
  });
});

describe('a body that does not arrive', () => {
  function open(stage: GatewayStage, text: string): Socket {
    const socket = connect(Number(new URL(stage.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(text);
    return socket;
  }
  const inChunks = (key: string): string =>
    `POST /eth/${key} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`;

  test('with a wrong key is not waited for, and its connection is closed', async () => {
    const stage = await start();
    const socket = open(stage, inChunks('f'.repeat(32)));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 .*Node Key not valid/s);
  });

  test('since its client went away is one line at debug level, and its room is given back', async () => {
    const bodies = createByteBudget(1_000);
    const stage = await start({ limits: { bodies } });
    const socket = open(stage, inChunks(STAGE_KEY));
    await expect.poll(() => bodies.used).toBe(5);
    socket.destroy();
    await expect.poll(() => stage.logLines.length).toBe(1);
    expect(JSON.parse(stage.logLines[0] ?? '')).toMatchObject({ level: 'debug', status: 499 });
    expect(bodies.used).toBe(0);
  });

  test('takes room, of which one key has a part', async () => {
    const other = 'other-key-0123';
    const stage = await start({ keys: [STAGE_KEY, other], limits: { bodies: createByteBudget(400) } });
    const large = [CALL, CALL];
    expect((await stage.post(large)).status).toBe(503);
    const socket = open(stage, `${inChunks(STAGE_KEY)}50\r\n${'x'.repeat(80)}\r\n`);
    await expect.poll(async () => (await stage.post(CALL)).status).toBe(503);
    expect((await stage.post(CALL, { key: other })).status).toBe(200);
    socket.destroy();
    await expect.poll(async () => (await stage.post(CALL)).status).toBe(200);
  });
});

describe('what needs no key', () => {
  test('says which chains and methods there are', async () => {
    const stage = await start();
    const get = async (path: string) => {
      const response = await fetch(`${stage.url}${path}`);
      return [response.status, await response.json()] as const;
    };
    const eth = {
      chain: 'eth',
      supportedMethods: METHOD_NAMES.filter((name) => !/^(?:debug|trace)_/.test(name)),
    };
    expect(await get('/eth/supportedMethods')).toEqual([200, eth]);
    expect(await get('/supportedMethods')).toEqual([200, [eth, { ...eth, chain: 'base' }]]);
    const tracing = await start({ offersTraces: true });
    expect(await (await fetch(`${tracing.url}/eth/supportedMethods`)).json()).toEqual({
      chain: 'eth',
      supportedMethods: METHOD_NAMES,
    });
    expect(await get('/chain/all')).toEqual([200, ['eth', 'base']]);
    expect(await get('/chain/extended/all')).toEqual([
      200,
      [
        {
          chain: 'eth',
          chainId: '0x1',
          name: 'Ethereum Mainnet',
          nativeCurrency: expect.objectContaining({ symbol: 'ETH' }),
        },
        expect.objectContaining({ chain: 'base', chainId: '0x2105' }),
      ],
    ]);
    expect(await get('/info')).toEqual([200, { uptime: expect.any(Number) }]);
    expect((await get('/polygon/supportedMethods'))[0]).toBe(404);
    for (const name of METHOD_NAMES) expect(findMethod(name)?.weight).toBeGreaterThan(0);
  });
});
