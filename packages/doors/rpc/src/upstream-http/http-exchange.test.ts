import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHttpExchange, type HttpExchange, isLocal } from './http-exchange.ts';

const BYTES_MAX = 1_000;

async function exchangeWith(answer: RequestListener): Promise<HttpExchange> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const exchange = createHttpExchange({
    origin: `http://127.0.0.1:${port}`,
    connections: 2,
    answerBytesMax: BYTES_MAX,
  });
  onTestFinished(async () => {
    await exchange.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return exchange;
}

const GET = { method: 'GET', path: '/', headers: {}, timeoutMs: 30_000 } as const;

describe('an answer', () => {
  test('comes with its status, headers and body, whatever the status', async () => {
    const exchange = await exchangeWith((request, response) => {
      response.writeHead(404, { 'x-told': `${request.method} ${request.url} ${request.headers['x-asked']}` });
      request.pipe(response);
    });
    const answer = await exchange.send({
      method: 'POST',
      path: '/a?b=c',
      headers: { 'x-asked': 'yes' },
      body: 'given',
      timeoutMs: 30_000,
    });
    expect(answer.status).toBe(404);
    expect(answer.headers['x-told']).toBe('POST /a?b=c yes');
    expect(answer.body.toString()).toBe('given');
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('in %s is decompressed, up to the limit', async (coding, compress) => {
    const exchange = await exchangeWith((request, response) => {
      response.writeHead(200, { 'content-encoding': coding });
      response.end(compress('x'.repeat(request.url === '/bomb' ? 100 * BYTES_MAX : 10)));
    });
    expect((await exchange.send(GET)).body.toString()).toBe('x'.repeat(10));
    await expect(exchange.send({ ...GET, path: '/bomb' })).rejects.toMatchObject({ kind: 'too-large' });
  });
});

describe('a failure is', () => {
  test.each<[kind: string, answer: RequestListener]>([
    ['too-large', (_, response) => void response.end('x'.repeat(BYTES_MAX + 1))],
    ['connection', (request) => void request.socket.destroy()],
    [
      'connection',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('cut');
        setTimeout(() => request.socket.destroy(), 20);
      },
    ],
    [
      'truncated',
      (_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        response.end(gzipSync('x'.repeat(500)).subarray(0, 15));
      },
    ],
    [
      'truncated',
      (_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        response.end('plain');
      },
    ],
  ])('told as %s', async (kind, answer) => {
    const exchange = await exchangeWith(answer);
    await expect(exchange.send(GET)).rejects.toMatchObject({ code: 'TRANSPORT', kind });
  });

  test('a timeout after the time of the request, and the caller’s own abort before', async () => {
    const exchange = await exchangeWith(() => {});
    await expect(exchange.send({ ...GET, timeoutMs: 50 })).rejects.toMatchObject({ kind: 'timeout' });
    const { signal } = { signal: AbortSignal.timeout(50) };
    await expect(exchange.send({ ...GET, signal })).rejects.toMatchObject({ kind: 'aborted' });
    await expect(exchange.send({ ...GET, signal })).rejects.toMatchObject({ kind: 'aborted' });
  });
});

test('a request over a kept connection that the server has closed meanwhile goes out once more', async () => {
  let requests = 0;
  const exchange = await exchangeWith((request, response) => {
    requests += 1;
    // As a server that gives the connection up while the next request is on its way.
    if (requests === 2) request.socket.destroy();
    else response.end(String(requests));
  });
  expect((await exchange.send(GET)).body.toString()).toBe('1');
  expect((await exchange.send(GET)).body.toString()).toBe('3');
});

test('this machine is local by name and by address', () => {
  const urls = ['http://localhost:1', 'http://127.0.0.1', 'http://[::1]:8545', 'https://node.example'];
  expect(urls.map((url) => isLocal(new URL(url)))).toEqual([true, true, true, false]);
});
