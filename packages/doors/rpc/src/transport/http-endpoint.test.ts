import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { node, startedPool } from '../testing/test-pool.ts';

test('headers and basic credentials are sent; compressed answers are read', async () => {
  const seen: Record<string, string | string[] | undefined>[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify({ jsonrpc: '2.0', id: null, result: '0x1' })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  const pool = await startedPool([{ url: `http://user:pass@127.0.0.1:${port}`, headers: { 'X-Token': 'abc' } }]);
  expect((await pool.request('eth_gasPrice', [])).value).toBe('0x1');
  expect(seen.at(-1)).toMatchObject({ authorization: `Basic ${btoa('user:pass')}`, 'x-token': 'abc' });
});

test('a byte order mark before an answer is no part of it', async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.end(`\ufeff${JSON.stringify({ jsonrpc: '2.0', id: null, result: '0x1' })}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  const pool = await startedPool([{ url: `http://127.0.0.1:${port}` }]);
  expect((await pool.request('eth_gasPrice', [])).value).toBe('0x1');
});

test('a head that is a number, or zero without a digit, is read', async () => {
  const one = await node(0);
  const pool = await startedPool([one]);
  const answers: unknown[] = ['0x', 7, '0x08'];
  one.script = ({ method }) => (method === 'eth_blockNumber' ? { result: answers.shift() } : undefined);
  for (const expected of [0, 7, 8]) {
    one.head = expected;
    expect(await pool.getHead().then(({ value }) => value.number)).toBe(expected);
  }
});
