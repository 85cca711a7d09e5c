import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { startedPool } from './testing/test-pool.ts';

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
