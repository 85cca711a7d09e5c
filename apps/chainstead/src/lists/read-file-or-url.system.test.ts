import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readFileOrUrl } from './abi-source.ts';

const signal = new AbortController().signal;

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a URL of the command line', () => {
  it('is read from this machine, and its redirects to other servers of it are not', async () => {
    const secret = await serve((_request, response) => void response.end('secret'));
    const list = await serve(({ url }, response) => {
      if (url === '/moved') response.writeHead(302, { location: '/list' });
      if (url === '/evil') response.writeHead(302, { location: secret });
      response.end('[1]');
    });
    expect(await readFileOrUrl(`${list}/moved`, signal)).toBe('[1]');
    await expect(readFileOrUrl(`${list}/evil`, signal)).rejects.toMatchObject({
      code: 'PLACE_UNREADABLE',
      message: expect.stringContaining('loopback'),
    });
  });

  it.each([
    ['more than 64 MiB', Buffer.alloc(65 * 1_024 * 1_024, ' '), 'larger'],
    ['millions of values', Buffer.from(`[${'{},'.repeat(3_000_000)}{}]`), 'more than 5000000 values'],
    ['hundreds of levels', Buffer.from('['.repeat(300)), 'nested'],
  ])('is refused when it expands to %s', async (_what, body, problem) => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body));
    });
    await expect(readFileOrUrl(url, signal)).rejects.toMatchObject({ message: expect.stringContaining(problem) });
  });

  it('may have brackets and commas in its texts', async () => {
    const text = JSON.stringify({ text: `${'[,{'.repeat(2_000_000)}\\"[` });
    const url = await serve((_request, response) => void response.end(text));
    expect(await readFileOrUrl(url, signal)).toBe(text);
  });
});
