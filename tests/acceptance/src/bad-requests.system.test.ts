/** Methods, paths, keys and bytes that are not what the server expects: each gets its status and message, over real sockets. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathOf, type ServedRows, serveRows } from './served-rows.ts';

let rows: ServedRows;

beforeAll(async () => {
  rows = await serveRows();
});
afterAll(() => rows?.close());

describe('a request for something else', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s is not allowed', async (method) => {
    const { status, headers, body } = await rows.send(`${pathOf(rows.wallet)}?chain=scripted`, {
      method,
      body: '{}',
    });
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    expect(body.message).toMatch(new RegExp(`^Method ${method} is not allowed on /api/v2.2/`));
  });

  test.each([
    '/api/v2.2/erc20/transfers',
    '/api/v2.2/0x1/erc20/transfer',
    '/api/v2/0x1/erc20/transfers',
    '/api/v2.2//erc20/transfers',
    '/api/v2.2/..%2f..%2fetc%2fpasswd',
    '/index.php?id=1%20OR%201=1',
  ])('%s is not there', async (path) => {
    const { status, body } = await rows.send(path);
    expect(status).toBe(404);
    expect(body.message).toMatch(/^No route for GET \//);
  });

  test.each([
    ['no key', {}, 'API key is missing: send it in the X-API-Key header or as Authorization: Bearer'],
    [
      'an empty key',
      { 'x-api-key': '' },
      'API key is missing: send it in the X-API-Key header or as Authorization: Bearer',
    ],
    ['a wrong key', { 'x-api-key': 'wrong-key-0123456789' }, 'Invalid key'],
    ['a key with something behind it', { 'x-api-key': `${TEST_KEY}0` }, 'Invalid key'],
    ['a SQL-looking key', { 'x-api-key': "' OR 1=1 --" }, 'Invalid key'],
    ['a wrong bearer', { authorization: 'Bearer wrong-key-0123456789' }, 'Invalid key'],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }, 'Invalid key'],
  ] as const)('with %s is not authorised', async (_name, headers, message) => {
    const answer = await fetch(`${rows.url}${pathOf(rows.wallet)}?chain=scripted`, { headers });
    expect([answer.status, await answer.json()]).toEqual([401, { message }]);
  });

  test('with the key as bearer is answered', async () => {
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    expect((await fetch(`${rows.url}${pathOf(rows.wallet)}?chain=scripted`, { headers })).status).toBe(200);
  });
});

describe('on a bare socket', () => {
  /** Status line and body of what comes back to these bytes. */
  async function exchange(bytes: string): Promise<{ status: number; message: string | undefined }> {
    const { hostname, port } = new URL(rows.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(bytes, 'latin1');
    const answer = await text(socket);
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
    return {
      status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]),
      message: body.startsWith('{') ? (JSON.parse(body) as { message?: string }).message : undefined,
    };
  }
  const head = (line: string, ...headers: readonly string[]): string =>
    [
      `${line} HTTP/1.1`,
      'Host: localhost',
      `X-API-Key: ${TEST_KEY}`,
      'Connection: close',
      ...headers,
      '',
      '',
    ].join('\r\n');

  test.each<readonly [string, () => string, number, RegExp | null]>([
    [
      'one huge header',
      () => head(`GET ${pathOf(rows.wallet)}`, `X-Padding: ${'x'.repeat(20_000)}`),
      431,
      /too large$/,
    ],
    [
      'very many headers',
      () => head(`GET ${pathOf(rows.wallet)}`, ...Array.from({ length: 1_500 }, (_, n) => `X-${n}: ${n}-value`)),
      431,
      /too large$/,
    ],
    [
      'a huge request line',
      () => head(`GET ${pathOf(rows.wallet)}?chain=${'e'.repeat(20_000)}`),
      431,
      /too large$/,
    ],
    ['no HTTP at all', () => 'hello\r\n\r\n', 400, /^Request is not valid HTTP$/],
    [
      'a line break in a header name',
      () => head(`GET ${pathOf(rows.wallet)}`, 'X Bad: 1'),
      400,
      /^Request is not valid HTTP$/,
    ],
    [
      'two different lengths',
      () => head(`POST ${pathOf(rows.wallet)}`, 'Content-Length: 1', 'Content-Length: 2'),
      400,
      /^Request is not valid HTTP$/,
    ],
    ['an unknown method', () => head(`BREW ${pathOf(rows.wallet)}`), 400, /^Request is not valid HTTP$/],
    [
      'a raw byte in the query',
      () => head(`GET ${pathOf(rows.wallet)}?chain=\u00e9`),
      400,
      /^(chain must be|Request)/,
    ],
    ['no Host', () => `GET ${pathOf(rows.wallet)} HTTP/1.1\r\nConnection: close\r\n\r\n`, 400, null],
    [
      'a large body where no body is taken',
      () => `${head(`POST ${pathOf(rows.wallet)}`, 'Content-Length: 2000000')}${'x'.repeat(1000)}`,
      405,
      /^Method POST is not allowed/,
    ],
  ])('%s', async (_name, bytes, status, message) => {
    const answer = await exchange(bytes());
    expect(answer.status).toBe(status);
    if (message === null) expect(answer.message).toBeUndefined();
    else expect(answer.message).toMatch(message);
  });
});

test('nothing of all that changed a row or broke the server', async () => {
  expect(await rows.countTransfers()).toBe(rows.chain.expectedTransfers().length);
  expect((await rows.send(`${pathOf(rows.wallet)}?chain=scripted`)).status).toBe(200);
});
