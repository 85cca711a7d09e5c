import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createLogger } from '@chainstead/core';
import { afterEach, describe, expect, test } from 'vitest';
import { ALL_SCOPES } from '../keys/key-store.ts';
import { type ApiServer, type ServeOptions, serveApi } from '../serve.ts';
import { createDemoApi, fixedKeys, WALLET } from '../testing/demo-api.ts';
import { createByteBudget } from './body-bounds.ts';

const KEY = 'accepted-key';
const PIECE = `10000\r\n${'x'.repeat(65_536)}\r\n`;
/** Maximum bytes that a connection reads ahead of its parser. */
const READ_BYTES_MAX = 1_048_576;

const servers: ApiServer[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) await server.close();
});

async function start(
  options: Parameters<typeof createDemoApi>[0] = {},
  serving: Partial<ServeOptions> = {},
): Promise<{ readonly url: string; readonly open: (text: string) => Socket }> {
  const { app } = createDemoApi({ keys: fixedKeys(KEY), ...options });
  const server = await serveApi(app, { host: '127.0.0.1', port: 0, closeDeadlineMs: 100, ...serving });
  servers.push(server);
  return {
    url: server.url,
    open(text) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      sockets.push(socket);
      socket.write(text);
      return socket;
    },
  };
}

function head(line: string, ...headers: readonly string[]): string {
  return `${[`${line} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`;
}

/** Sends data as long as the other side accepts it. */
function sendEndlessly(socket: Socket): void {
  const send = (): void => {
    while (socket.writable && socket.write(PIECE));
  };
  socket.on('drain', send);
  send();
}

/** Unlike `once`, ignores earlier errors. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

/** Returns the status after the other side closed the connection. */
async function statusOf(socket: Socket): Promise<number> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await closed(socket);
  const status = /^HTTP\/1\.1 (\d{3})/.exec(Buffer.concat(chunks).toString())?.[1];
  return Number(status);
}

describe('bodies of strangers', () => {
  test.each([
    ['without a key, on a route with a body', 'POST /demo/things', [], 401],
    ['with a wrong key', 'POST /demo/things', ['X-API-Key: wrong-key'], 401],
    ['on an unknown path', 'POST /nope', [], 404],
    ['with a method that the path does not have', 'DELETE /demo/small', [], 405],
    ['on a route that takes none', `GET /demo/${WALLET}/rows`, [`X-API-Key: ${KEY}`], 200],
    ['on the health check', 'GET /health', [], 200],
  ] as const)(
    '%s, are not read: endless ones get their answer and the connection is closed',
    async (_, line, own, status) => {
      const served: Socket[] = [];
      const { url, open } = await start({}, { rawHandler: ({ socket }) => served.push(socket) === 0 });
      const statuses = Array.from({ length: 60 }, () => {
        const socket = open(head(line, 'Content-Type: application/json', 'Transfer-Encoding: chunked', ...own));
        sendEndlessly(socket);
        return statusOf(socket);
      });
      expect((await fetch(`${url}/health`)).status).toBe(200);
      expect(await Promise.all(statuses)).toEqual(Array(60).fill(status));
      for (const { bytesRead } of served) expect(bytesRead).toBeLessThan(READ_BYTES_MAX);
    },
  );

  test('are not read when they are long and state it', async () => {
    const { open } = await start();
    const socket = open(head('POST /nope', 'Content-Length: 1000000'));
    expect(await statusOf(socket)).toBe(404);
  });

  test('cost no connection when they are short', async () => {
    const { open } = await start();
    const socket = open(
      `${head('POST /nope', 'Content-Length: 5')}hello${head('GET /health', 'Connection: close')}`,
    );
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await closed(socket);
    expect(
      Buffer.concat(chunks)
        .toString()
        .match(/HTTP\/1\.1 \d{3}/g),
    ).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });
});

describe('a client that waits for 100 Continue', () => {
  const expectation = ['Expect: 100-continue', 'Content-Type: application/json'];

  /** Returns all output of the server until it closes the connection. */
  async function answersTo(socket: Socket): Promise<readonly string[]> {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await closed(socket);
    const answers = Buffer.concat(chunks).toString();
    return answers.match(/HTTP\/1\.1 \d{3}/g) ?? [];
  }

  test.each([
    ['without a key', 'POST /demo/things', ['Content-Length: 12'], 401],
    ['with a wrong key', 'POST /demo/things', ['Content-Length: 12', 'X-API-Key: wrong-key'], 401],
    ['without a key, in chunks', 'POST /demo/things', ['Transfer-Encoding: chunked'], 401],
    ['on an unknown path', 'POST /nope', ['Content-Length: 12'], 404],
    ['with a method that the path does not have', 'DELETE /demo/small', ['Content-Length: 12'], 405],
    ['with too long a body', 'POST /demo/things', ['Content-Length: 100000', `X-API-Key: ${KEY}`], 413],
    ['with a body that the route does not take', 'GET /health', ['Content-Length: 12'], 200],
  ] as const)('%s gets the final answer alone, and the connection is closed', async (_, line, own, status) => {
    const { open } = await start();
    expect(await answersTo(open(head(line, ...expectation, ...own)))).toEqual([`HTTP/1.1 ${status}`]);
  });

  test('is told to send it where it is read, and the connection goes on', async () => {
    const { open } = await start();
    const socket = open(head('POST /demo/things', ...expectation, `X-API-Key: ${KEY}`, 'Content-Length: 12'));
    const [interim] = (await once(socket, 'data')) as [Buffer];
    expect(interim.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('{"name":"x"}');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 .*\{"name":"x"\}$/s);
    socket.write(head('GET /health', 'Connection: close'));
    expect(await answersTo(socket)).toEqual(['HTTP/1.1 200']);
  });

  test('and expects something else is refused, and its body is not read', async () => {
    const served: Socket[] = [];
    const { open } = await start({}, { rawHandler: ({ socket }) => served.push(socket) === 0 });
    const socket = open(head('POST /demo/things', 'Expect: wonders', 'Transfer-Encoding: chunked'));
    sendEndlessly(socket);
    expect(await statusOf(socket)).toBe(417);
    expect(served).toEqual([]);
  });
});

describe('a body in chunks', () => {
  test('is read where a route takes one, and the connection goes on', async () => {
    const { open } = await start();
    const body = '{"name":"x"}';
    const request = head(
      'POST /demo/things',
      `X-API-Key: ${KEY}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    );
    const socket = open(`${request}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(first.toString()).toMatch(/^HTTP\/1\.1 200 .*\{"name":"x"\}$/s);
    socket.write(head('GET /health'));
    const [second] = (await once(socket, 'data')) as [Buffer];
    expect(second.toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('that breaks off is told in one line at debug level, and gives its room back', async () => {
    const lines: { level: string; status?: number }[] = [];
    const logger = createLogger({
      level: 'debug',
      destination: { write: (line) => void lines.push(JSON.parse(line)) },
    });
    const bodies = createByteBudget(100_000);
    const { open } = await start({ logger, bodies, limits: { ...LIMITS, bodyBytesMax: 50_000 } });
    const socket = open(
      `${head('POST /demo/things', `X-API-Key: ${KEY}`, 'Transfer-Encoding: chunked')}5\r\nhello\r\n`,
    );
    await expect.poll(() => bodies.used).toBe(5);
    socket.destroy();
    await expect.poll(() => lines.length).toBe(1);
    expect(lines).toMatchObject([{ level: 'debug', status: 499 }]);
    expect(bodies.used).toBe(0);
  });

  test('finds no room while one key sends too many, which other keys still have', async () => {
    const bodies = createByteBudget(8_000);
    const keys = { ...fixedKeys(KEY), verify: (key: string) => ({ id: key, name: key, scopes: ALL_SCOPES }) };
    const { open } = await start({ keys, bodies, limits: { ...LIMITS, bodyBytesMax: 5_000 } });
    const send = (key: string, bytes: number): Socket =>
      open(
        `${head('POST /demo/things', `X-API-Key: ${key}`, 'Transfer-Encoding: chunked')}${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`,
      );
    send('greedy-key', 1_500);
    await expect.poll(() => bodies.used).toBe(1_500);
    expect(await statusOf(send('greedy-key', 1_000))).toBe(503);
    send('modest-key', 1_500);
    await expect.poll(() => bodies.used).toBe(3_000);
  });
});

const LIMITS = { bodyBytesMax: 1_000, pageLimitMax: 50, requestTimeoutMs: 30_000, rateLimit: null };

describe('a slow client', () => {
  test.each([
    ['says nothing', ''],
    ['stops in the headers', 'POST /demo/things HTTP/1.1\r\nHost: localhost\r\n'],
    [
      'stops in the body',
      `${head('POST /demo/things', `X-API-Key: ${KEY}`, 'Transfer-Encoding: chunked')}5\r\nhello\r\n`,
    ],
  ])('that %s is given up', async (_, text) => {
    const { open } = await start({}, { receiveTimeoutMs: 300, headersTimeoutMs: 100 });
    expect(await statusOf(open(text))).toBe(408);
  });
});

test('connections beyond the bound are closed as they come, and idle ones make room', async () => {
  const { url, open } = await start({}, { connectionsMax: 3 });
  const idle = [1, 2, 3].map(() => open(head('GET /health')));
  for (const socket of idle) await once(socket, 'data');
  await closed(open(head('GET /health')));
  await Promise.all(idle.map(closed));
  expect((await fetch(`${url}/health`)).status).toBe(200);
});
