/** Abilities of a client without a key, or with a key that web pages show, in the real program. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { platform } from 'node:os';
import { json } from 'node:stream/consumers';
import { descendantsOf, type Program, startProgram } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';

const PATIENCE_MS = 90_000;
const KEY = 'strangers-full-key';
const PAGE_KEY = 'strangers-page-key';
const DATA_KEY = 'strangers-data-key';
const NOBODY = 'http://127.0.0.1:9';
const PIECE = `10000\r\n${'x'.repeat(65_536)}\r\n`;
/** Bytes that a server reads from a line before it stops. Further ones stay in the kernel's buffers, as much as they hold. */
const READ_BYTES_MAX = 1_048_576;

const scratch = scratchOfFile();
let program: Program;
let url: string;

beforeAll(async () => {
  program = startProgram(['start', '--roles', 'api'], {
    environment: {
      DATABASE_URL: scratch.url,
      PORT: '0',
      LOG_LEVEL: 'debug',
      API_KEYS: `${KEY},${PAGE_KEY}:rpc,${DATA_KEY}:data+streams`,
      CHAINS: 'eth',
      RPC_URLS_ETH: NOBODY,
    },
  });
  url = await program.url;
}, PATIENCE_MS);
afterAll(async () => {
  await program?.stop();
});

/** Sends a body in chunks for as long as the server takes them, until it closes the connection. @returns the status of its answer */
function sendEndlessly(line: string): Promise<number> {
  const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString();
  });
  socket.on('error', () => undefined);
  socket.write(
    `${line} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const send = (): void => {
    while (socket.writable && socket.write(PIECE));
  };
  socket.on('drain', send);
  send();
  return new Promise((resolve) => {
    socket.once('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1])));
  });
}

/** Bytes that the program's processes have read so far, from sockets and files. Linux only. */
function readBytes(): number {
  return [program.pid, ...descendantsOf(program.pid)]
    .map((pid) => Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]))
    .reduce((sum, bytes) => sum + bytes, 0);
}

test('endless bodies without a key are answered and not read, and the health check goes on', async () => {
  const lines = [
    ['POST /eth/0123456789abcdef0123456789abcdef', 401],
    ['DELETE /eth/0123456789abcdef0123456789abcdef', 405],
    ['PUT /streams/evm', 401],
    ['PUT /api/v2.2/nft/0x0000000000000000000000000000000000000001/sync', 401],
    ['POST /nope', 404],
    ['GET /health', 200],
  ] as const;
  const sent = Array.from({ length: 72 }, (_, index) => lines[index % lines.length] ?? lines[0]);
  const isCounted = platform() === 'linux';
  const before = isCounted ? readBytes() : 0;
  const statuses = sent.map(([line]) => sendEndlessly(line));
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect(await Promise.all(statuses)).toEqual(sent.map(([, status]) => status));
  if (isCounted) expect(readBytes() - before).toBeLessThan(sent.length * READ_BYTES_MAX);
  expect(program.output()).not.toMatch(/"level":"(error|warn)"|at .*\.(ts|js|mjs):\d+/);
});

test('a stranger who waits for 100 Continue gets the refusal instead', async () => {
  const ask = (line: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk.toString();
      });
      socket.once('close', () => resolve((received.match(/^HTTP\/1\.1 \d{3}/gm) ?? []).join()));
      socket.write(`${line} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 80\r\n\r\n`);
    });
  expect(await ask('POST /eth/0123456789abcdef0123456789abcdef')).toBe('HTTP/1.1 401');
  expect(await ask('PUT /streams/evm')).toBe('HTTP/1.1 401');
  expect(await ask(`POST /eth/${DATA_KEY}`)).toBe('HTTP/1.1 403');
  expect(await ask('POST /nope')).toBe('HTTP/1.1 404');
});

test('a client with a key is told to continue', async () => {
  const call = request(`${url}/eth/${KEY}`, { method: 'POST', headers: { expect: '100-continue' } });
  call.flushHeaders();
  await once(call, 'continue');
  call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }));
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  expect(await json(answer)).toEqual({ jsonrpc: '2.0', id: 1, result: '0x1' });
});

test('a key does what its scopes say, and no more', async () => {
  const wallet = '0x0000000000000000000000000000000000000001';
  const stream = '/streams/evm/00000000-0000-4000-8000-000000000000';
  const uses: readonly (readonly [line: string, full: number, page: number, data: number])[] = [
    [`GET /api/v2.2/${wallet}/erc20/transfers?chain=eth`, 200, 403, 200],
    // Without an Aptos network here, a valid key gets this response.
    ['GET /coins/latest?limit=1', 400, 403, 400],
    ['GET /streams/evm?limit=1', 200, 403, 200],
    [`DELETE ${stream}`, 404, 403, 404],
    ['GET /stats', 200, 403, 200],
    ['GET /history?limit=1', 200, 403, 200],
    ['GET /settings', 200, 403, 403],
    ['POST /settings', 200, 403, 403],
  ];
  for (const [line, ...expected] of uses) {
    const [method = '', path = ''] = line.split(' ');
    const statuses = [];
    for (const key of [KEY, PAGE_KEY, DATA_KEY])
      statuses.push((await fetch(url + path, { method, headers: { 'x-api-key': key } })).status);
    expect([line, ...statuses]).toEqual([line, ...expected]);
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const answers = [];
  for (const key of [KEY, PAGE_KEY, DATA_KEY]) {
    const response = await fetch(`${url}/eth/${key}`, { method: 'POST', body });
    answers.push([response.status, await response.json()]);
  }
  const result = [200, { jsonrpc: '2.0', id: 1, result: '0x1' }];
  const error = {
    code: 4_100,
    message: expect.stringContaining('Add :data+rpc+streams after the key in API_KEYS'),
  };
  expect(answers).toEqual([result, result, [403, { jsonrpc: '2.0', id: null, error }]]);
});
