import { once } from 'node:events';
import { connect } from 'node:net';
import { createByteBudget } from '@chainstead/http/server';
import { afterEach, describe, expect, test } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import type { HandleCall } from '../call.ts';
import { WEIGHT_OF_FOUR } from '../testing/four-calls.ts';
import {
  type GatewayStage,
  result,
  STAGE_KEY,
  type StageOptions,
  startGatewayStage,
} from '../testing/gateway-stage.ts';

const stages: GatewayStage[] = [];
const SOCKETS = { socketsMax: 100, socketsPerKey: 50 };

afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

async function start(options: Partial<StageOptions> = {}): Promise<GatewayStage> {
  const stage = await startGatewayStage({ answer: () => result('0x1'), keys: [STAGE_KEY], ...options });
  stages.push(stage);
  return stage;
}

function addressOf(stage: GatewayStage, path = `/eth/${STAGE_KEY}`): string {
  return stage.url.replace('http:', 'ws:') + path;
}

/** Opens a socket, or returns the HTTP response that came instead. */
async function open(
  stage: GatewayStage,
  path?: string,
  options: ClientOptions = {},
): Promise<WebSocket | readonly [status: number | undefined, body: string]> {
  const socket = new WebSocket(addressOf(stage, path), options);
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
    socket.once('unexpected-response', async (_request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      resolve([response.statusCode, Buffer.concat(pieces).toString()]);
    });
  });
}

async function opened(stage: GatewayStage, path?: string, options?: ClientOptions): Promise<WebSocket> {
  const socket = await open(stage, path, options);
  if (socket instanceof WebSocket) return socket;
  throw new Error(`refused: ${socket.join(' ')}`);
}

async function ask(socket: WebSocket, body: unknown): Promise<unknown> {
  const answer = once(socket, 'message');
  socket.send(typeof body === 'string' ? body : JSON.stringify(body));
  const [data] = await answer;
  return JSON.parse(String(data));
}

const CALL = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] };

describe('a message', () => {
  test('is answered as a POST with the same body is', async () => {
    const stage = await start();
    const socket = await opened(stage);
    const bodies = [
      CALL,
      [CALL, { ...CALL, id: 'b' }, { ...CALL, method: 'eth_sign' }],
      '{',
      '[]',
      { ...CALL, jsonrpc: '1' },
      { ...CALL, method: 'eth_getBalance', params: ['0x1'] },
    ];
    for (const body of bodies)
      expect(await ask(socket, body)).toEqual(await stage.post(body).then((answer) => answer.json()));
    // An HTTP status becomes an error here.
    expect(await ask(socket, { ...CALL, method: 'eth_sign' })).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32_601, message: 'eth_sign is not supported on chain eth' },
    });
    expect(await ask(socket, Array(21).fill(CALL))).toMatchObject({ id: null, error: { code: -32_600 } });
    socket.close();
  });

  test('is limited and counted by its key', async () => {
    const stage = await start({ limits: WEIGHT_OF_FOUR });
    const socket = await opened(stage);
    const answers = [];
    for (let index = 0; index < 5; index += 1) answers.push(await ask(socket, CALL));
    expect(answers.at(3)).toMatchObject({ result: '0x1' });
    expect(answers.at(4)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32_005, message: 'Rate limit exceeded' },
    });
    expect((await stage.post(CALL)).status).toBe(429);
    socket.close();
  });

  test('without an id is answered with nothing', async () => {
    const stage = await start();
    const socket = await opened(stage);
    const { id: _id, ...notification } = CALL;
    socket.send(JSON.stringify(notification));
    expect(await ask(socket, { ...CALL, id: 'next' })).toMatchObject({ id: 'next' });
    socket.close();
  });

  test('that is too large closes the socket with 1009', async () => {
    const stage = await start({ limits: { bodyBytesMax: 1_000 } });
    const socket = await opened(stage);
    socket.send('x'.repeat(1_001));
    expect((await once(socket, 'close'))[0]).toBe(1_009);
  });

  test('that holds more values than are parsed is refused, and the next one is answered', async () => {
    const bodies = createByteBudget(100_000);
    const stage = await start({ limits: { bodies } });
    const socket = await opened(stage);
    const first = once(socket, 'message');
    socket.send(`${'['.repeat(65)}${']'.repeat(65)}`);
    expect(JSON.parse(String((await first)[0]))).toMatchObject({ id: null, error: { code: -32_600 } });
    expect(await ask(socket, CALL)).toMatchObject({ id: CALL.id });
    await expect.poll(() => bodies.used).toBe(0);
    socket.close();
  });

  test('gets a result in pieces whole, and answers given meanwhile stand behind it', async () => {
    const [begun, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    async function* pieces(): AsyncGenerator<Buffer> {
      yield Buffer.from('"ab');
      begun.resolve();
      await second.promise;
      yield Buffer.from('cd"');
    }
    const answer: HandleCall = ({ method }) =>
      method.name === 'eth_getLogs' ? { ok: true, result: pieces(), cached: false } : result('0x1');
    const stage = await start({ answer });
    const socket = await opened(stage);
    const answers: unknown[] = [];
    socket.on('message', (data) => answers.push(JSON.parse(String(data))));
    socket.send(JSON.stringify({ ...CALL, id: 'logs', method: 'eth_getLogs', params: [{}] }));
    await begun.promise;
    socket.send(JSON.stringify({ ...CALL, id: 'after' }));
    socket.ping();
    await once(socket, 'pong');
    second.resolve();
    await expect
      .poll(() => answers)
      .toEqual([
        { jsonrpc: '2.0', id: 'logs', result: 'abcd' },
        { jsonrpc: '2.0', id: 'after', result: '0x1' },
      ]);
    socket.close();
  });
});

describe('a socket', () => {
  test.each([
    ['/eth/short', 401, 'Token is invalid format'],
    [`/eth/${'f'.repeat(32)}`, 401, 'Node Key not valid'],
  ])('at %s is refused with %s', async (path, status, message) => {
    const stage = await start();
    expect(await open(stage, path)).toEqual([status, JSON.stringify({ message })]);
    expect(await stage.metrics.metrics()).toContain('chainstead_gateway_sockets_refused_total{status="401"} 1');
  });

  test('elsewhere is not found', async () => {
    const stage = await start();
    expect((await open(stage, `/unknown/${STAGE_KEY}`)).toString()).toContain('404');
    expect((await open(stage, '/')).toString()).not.toContain('101');
  });

  test('of a page of another site is refused by a server without keys', async () => {
    const stage = await start({ keys: [] });
    const answer = await open(stage, '/eth/any', { origin: 'https://evil.example' });
    expect(answer).toMatchObject([403, expect.stringContaining('Origin')]);
    (await opened(stage, '/eth/any', { origin: 'http://localhost:3000' })).close();
    (await opened(stage, '/eth/any')).close();
  });

  test('of a page that CORS_ORIGINS does not name is refused', async () => {
    const stage = await start({ corsOrigins: ['https://shop.example'] });
    expect(await open(stage, undefined, { origin: 'https://evil.example' })).toMatchObject([
      403,
      expect.anything(),
    ]);
    (await opened(stage, undefined, { origin: 'https://shop.example' })).close();
  });

  test('is one of so many of a key, and of so many in all', async () => {
    const other = 'fedcba9876543210';
    const stage = await start({
      keys: [STAGE_KEY, other],
      limits: { sockets: { socketsMax: 3, socketsPerKey: 2 } },
    });
    const first = await opened(stage);
    await opened(stage);
    expect(await open(stage)).toMatchObject([429, expect.anything()]);
    await opened(stage, `/base/${other}`);
    expect(await open(stage, `/eth/${other}`)).toMatchObject([503, expect.anything()]);
    first.close();
    await once(first, 'close');
    await expect.poll(async () => (await open(stage)) instanceof WebSocket).toBe(true);
  });

  test('whose client answers no ping is cut off', async () => {
    const stage = await start({ limits: { sockets: { ...SOCKETS, pingIntervalMs: 20 } } });
    const alive = await opened(stage);
    const dead = await opened(stage, undefined, { autoPong: false });
    expect((await once(dead, 'close'))[0]).toBe(1_006);
    expect(await ask(alive, CALL)).toMatchObject({ result: '0x1' });
    expect(await stage.metrics.metrics()).toContain('sockets_ended_total{chain="eth",reason="dead"} 1');
    alive.close();
  });

  test('of a key that is revoked is closed', async () => {
    const keys = [STAGE_KEY, 'another-key'];
    const stage = await start({ keys, limits: { sockets: { ...SOCKETS, pingIntervalMs: 20 } } });
    const socket = await opened(stage);
    keys.shift();
    expect((await once(socket, 'close'))[0]).toBe(1_008);
  });

  test('that was opened without a key is closed once keys are needed', async () => {
    const keys: string[] = [];
    const stage = await start({ keys, limits: { sockets: { ...SOCKETS, pingIntervalMs: 20 } } });
    const socket = await opened(stage, '/eth/any-key-at-all');
    keys.push(STAGE_KEY);
    expect((await once(socket, 'close'))[0]).toBe(1_008);
  });

  test('is closed with 1001 when the server stops, after what is under way is answered', async () => {
    const slow = Promise.withResolvers<ReturnType<typeof result>>();
    const stage = await start({ answer: () => slow.promise });
    const [idle, busy] = [await opened(stage), await opened(stage)];
    const answer = ask(busy, CALL);
    await expect.poll(() => stage.metrics.metrics()).toContain('sockets{chain="eth"} 2');
    // When the pong of the next ping arrives, the message has arrived.
    busy.ping();
    await once(busy, 'pong');
    const [idleEnd, busyEnd] = [once(idle, 'close'), once(busy, 'close')];
    const closed = stage.server.close();
    expect((await idleEnd)[0]).toBe(1_001);
    slow.resolve(result('0x7'));
    expect(await answer).toMatchObject({ result: '0x7' });
    expect((await busyEnd)[0]).toBe(1_001);
    await closed;
  });

  test('leaves requests that ask for another protocol to HTTP', async () => {
    const stage = await start();
    const answer = await rawRequest(
      stage,
      'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
    );
    expect(answer).toContain('HTTP/1.1 200');
    const post = await rawRequest(
      stage,
      `POST /eth/${STAGE_KEY} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\ncontent-length: 2\r\n\r\n[]`,
    );
    expect(post).toContain('-32600');
  });
});

async function rawRequest(stage: GatewayStage, text: string): Promise<string> {
  const { port, hostname } = new URL(stage.url);
  const socket = connect(Number(port), hostname);
  socket.write(text);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return String(answer);
}
