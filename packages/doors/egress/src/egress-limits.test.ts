import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { answer, closeAll, open, serve, serveTcp } from './testing/local-servers.ts';

const MIB = 1_048_576;
/** The highest quality, which is the standard, takes seconds for a bomb. */
const FAST_BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

afterEach(closeAll);

describe('limits', () => {
  test.each(['silence', 'a trickle of headers', 'a trickle of body'])('of time end %s', async (kind) => {
    const port = await serveTcp((socket) => {
      if (kind === 'silence') return;
      if (kind === 'a trickle of body') socket.write('HTTP/1.1 200 OK\r\n\r\n');
      else socket.write('HTTP/1.1 200 OK\r\n');
      const trickle = setInterval(() => socket.write(kind === 'a trickle of body' ? 'x' : 'x-a: b\r\n'), 20);
      socket.on('close', () => clearInterval(trickle));
    });
    const startedAt = performance.now();
    await expect(open().request({ url: `http://127.0.0.1:${port}/`, timeoutMs: 200 })).rejects.toMatchObject({
      code: 'EGRESS_TIMEOUT',
      retryable: true,
      facts: { timeout_ms: 200 },
    });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  // Invariant: EGRESS-BOUNDED
  test('of time count a resolver that never answers, and all redirects together', async () => {
    const stuck = open({ resolve: () => new Promise<never>(() => undefined), timeoutMs: 100 });
    await expect(stuck.request({ url: 'http://slow.test/' })).rejects.toMatchObject({ code: 'EGRESS_TIMEOUT' });
    const server = await serve((request, response) => {
      setTimeout(() => response.writeHead(302, { location: `${request.url}x` }).end(), 60);
    });
    await expect(open().request({ url: server.url, redirects: 50, timeoutMs: 200 })).rejects.toMatchObject({
      code: 'EGRESS_TIMEOUT',
    });
  });

  test('of time give way to the signal of the request, with its reason', async () => {
    const server = await serve(() => undefined);
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const request = open().request({ url: server.url, signal: controller.signal });
    controller.abort(reason);
    await expect(request).rejects.toBe(reason);
  });

  test('of size refuse a body that is too large, or cut it where that is wanted', async () => {
    const server = await serve(answer(Buffer.alloc(5_000, 'a')));
    const egress = open({ maxResponseBytes: 1_000 });
    await expect(egress.request({ url: server.url })).rejects.toMatchObject({
      code: 'EGRESS_RESPONSE_TOO_LARGE',
      facts: { limit_bytes: 1_000 },
    });
    const cut = await egress.request({ url: server.url, oversize: 'truncate' });
    expect(cut).toMatchObject({ status: 200, truncated: true });
    expect(cut.body.toString()).toBe('a'.repeat(1_000));
    const whole = await egress.request({ url: server.url, maxResponseBytes: 5_000 });
    expect(whole.truncated).toBe(false);
    expect(whole.body).toHaveLength(5_000);
  });

  test('of size end a stream without end', async () => {
    const server = await serve((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', more);
      more();
    });
    const request = open({ maxResponseBytes: MIB }).request({ url: server.url });
    await expect(request).rejects.toMatchObject({ code: 'EGRESS_RESPONSE_TOO_LARGE' });
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', (bytes: string | Buffer) => brotliCompressSync(bytes, FAST_BROTLI)],
  ] as const)('of size hold for what %s decompresses to', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(64 * MIB));
    expect(bomb.length).toBeLessThan(MIB);
    const server = await serve((request, response) => {
      const body = request.url === '/small' ? compress('{"ok":true}') : bomb;
      response.writeHead(200, { 'content-encoding': encoding }).end(body);
    });
    const egress = open();
    const small = await egress.request({ url: `${server.url}small` });
    expect(small.body.toString()).toBe('{"ok":true}');
    await expect(egress.request({ url: server.url })).rejects.toMatchObject({
      code: 'EGRESS_RESPONSE_TOO_LARGE',
    });
  });

  // Invariant: EGRESS-BOUNDED
  test('of size hold for compressed bytes that decompress to nothing', async () => {
    const empty = gzipSync('');
    const server = await serve(
      answer(Buffer.concat(Array<Buffer>(1_000).fill(empty)), { 'content-encoding': 'gzip' }),
    );
    await expect(open({ maxResponseBytes: 1_000 }).request({ url: server.url })).rejects.toMatchObject({
      code: 'EGRESS_RESPONSE_TOO_LARGE',
    });
  });

  test.each([
    ['gzip, gzip', gzipSync(gzipSync('twice'))],
    ['zstd', Buffer.from('x')],
    ['gzip', Buffer.from('not gzip at all')],
    ['gzip', gzipSync('cut off').subarray(0, 12)],
  ])('of form refuse content-encoding %s with other data', async (encoding, body) => {
    const server = await serve(answer(body, { 'content-encoding': encoding }));
    await expect(open().request({ url: server.url })).rejects.toMatchObject({ code: 'EGRESS_BAD_ENCODING' });
  });

  test('of form let an answer without a body pass, whatever its content-encoding says', async () => {
    const server = await serve(answer('', { 'content-encoding': 'gzip' }, 204));
    expect((await open().request({ url: server.url })).status).toBe(204);
    expect((await open().request({ url: server.url, method: 'HEAD' })).status).toBe(204);
  });
});
