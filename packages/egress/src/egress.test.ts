import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createLogger } from '@chainstead/core';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { createEgress, type Egress, type EgressOptions } from './egress.ts';

const MIB = 1_048_576;
const closers: (() => Promise<unknown> | unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface LocalServer {
  readonly port: number;
  readonly url: string;
  readonly requests: IncomingMessage[];
  connections(): number;
}

async function serve(listener: RequestListener, host = '127.0.0.1'): Promise<LocalServer> {
  const requests: IncomingMessage[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  server.on('connection', () => {
    connections++;
  });
  server.listen(0, host);
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://${host}:${port}/`, requests, connections: () => connections };
}

function open(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ allowPrivate: ['127.0.0.0/8'], ...options });
  closers.push(() => egress.close());
  return egress;
}

function answer(body: string | Buffer, headers: Record<string, string> = {}, status = 200): RequestListener {
  return (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}

describe('addresses', () => {
  test('of a public server on the allow-list is reached, with the given method, headers and body', async () => {
    const received: string[] = [];
    const server = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (chunk: string) => received.push(chunk));
      request.on('end', () => response.writeHead(201, { 'x-seen': 'yes' }).end('done'));
    });
    const response = await open().request({
      url: `${server.url}hook?a=1`,
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Signature': '0xabc' },
      body: '{"block":1}',
    });
    expect(response).toMatchObject({ status: 201, truncated: false, url: `${server.url}hook?a=1` });
    expect(response.headers['x-seen']).toBe('yes');
    expect(response.body.toString()).toBe('done');
    expect(received.join('')).toBe('{"block":1}');
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      url: '/hook?a=1',
      headers: { 'content-type': 'application/json', 'x-signature': '0xabc', host: `127.0.0.1:${server.port}` },
    });
  });

  test.each([
    ['dotted decimal', '127.0.0.1'],
    ['short', '127.1'],
    ['decimal', '2130706433'],
    ['hexadecimal', '0x7f000001'],
    ['mixed hexadecimal', '0x7f.0.0.1'],
    ['octal', '0177.0.0.01'],
    ['octal number', '017700000001'],
    ['wide digits', '１２７.０.０.１'],
    ['ideographic full stops', '127。0。0。1'],
    ['percent-encoded', '%31%32%37.0.0.1'],
    ['trailing dot', '127.0.0.1.'],
    ['a name', 'localhost'],
    ['IPv6 loopback', '[::1]'],
    ['IPv6 loopback in full', '[0:0:0:0:0:0:0:1]'],
    ['IPv4-mapped', '[::ffff:127.0.0.1]'],
    ['IPv4-mapped in hexadecimal', '[::ffff:7f00:1]'],
    ['IPv4-compatible', '[::127.0.0.1]'],
    ['NAT64', '[64:ff9b::7f00:1]'],
    ['6to4', '[2002:7f00:1::]'],
    ['unspecified', '0.0.0.0'],
    ['unspecified, short', '0'],
    ['unspecified IPv6', '[::]'],
    ['metadata', '169.254.169.254'],
    ['metadata IPv6', '[fd00:ec2::254]'],
  ])('of this machine written as %s (%s) is refused before any connection', async (_name, host) => {
    const server = await serve(answer('secret'));
    const request = open({ allowPrivate: false }).request({ url: `http://${host}:${server.port}/` });
    await expect(request).rejects.toMatchObject({ code: 'EGRESS_BLOCKED_ADDRESS', retryable: false });
    expect(server.connections()).toBe(0);
  });

  test.each(['http://[fe80::1%25eth0]/', 'http://1.2.3.4.5/', 'http://256.0.0.1/', 'http:///', 'no url', ''])(
    'in the malformed URL %j are refused',
    async (url) => {
      await expect(open().request({ url })).rejects.toMatchObject({ code: 'EGRESS_INVALID_URL' });
    },
  );

  test.each(['ftp://example.com/', 'file:///etc/passwd', 'data:,x', 'gopher://127.0.0.1/', 'unix:/run/docker.sock'])(
    'of another protocol, %s, are refused',
    async (url) => {
      await expect(open().request({ url })).rejects.toMatchObject({ code: 'EGRESS_INVALID_URL' });
    },
  );

  test('of a name are all checked: one private address among public ones refuses the name', async () => {
    const server = await serve(answer('secret'));
    const egress = open({ allowPrivate: [], resolve: async () => ['93.184.216.34', '2606:2800::1', '127.0.0.1'] });
    await expect(egress.request({ url: `http://mixed.test:${server.port}/` })).rejects.toMatchObject({
      code: 'EGRESS_BLOCKED_ADDRESS',
      facts: { host: 'mixed.test', address: '127.0.0.1', range: 'loopback' },
    });
    expect(server.connections()).toBe(0);
  });

  test('that a resolver gives with a zone or not as an address refuse the name', async () => {
    for (const odd of ['fe80::1%eth0', '0x7f.1', 'localhost', '']) {
      const egress = open({ allowPrivate: [], resolve: async () => [odd] });
      await expect(egress.request({ url: 'http://odd.test/' })).rejects.toMatchObject({
        code: 'EGRESS_BLOCKED_ADDRESS',
      });
    }
  });

  test('that no resolver finds are told as such', async () => {
    const none = open({ resolve: async () => [] });
    await expect(none.request({ url: 'http://none.test/' })).rejects.toMatchObject({ code: 'EGRESS_DNS_FAILED' });
    const broken = open({ resolve: () => Promise.reject(new Error('SERVFAIL')) });
    await expect(broken.request({ url: 'http://broken.test/' })).rejects.toMatchObject({
      code: 'EGRESS_DNS_FAILED',
      retryable: true,
    });
  });

  test('any private IPv4 address in any numeric spelling is refused', async () => {
    const egress = open({ allowPrivate: false, timeoutMs: 2_000 });
    const octet = fc.nat(255);
    const privateV4 = fc.oneof(
      fc.tuple(fc.constant(10), octet, octet, octet),
      fc.tuple(fc.constant(127), octet, octet, octet),
      fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
      fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    );
    const spelling = fc.constantFrom<(n: number) => string>(
      (n) => String(n),
      (n) => `0x${n.toString(16)}`,
      (n) => `0${n.toString(8)}`,
    );
    await fc.assert(
      fc.asyncProperty(privateV4, fc.array(spelling, { minLength: 4, maxLength: 4 }), async (octets, spellings) => {
        const dotted = octets.map((n, index) => (spellings[index] ?? String)(n)).join('.');
        const whole = (spellings[0] ?? String)(octets.reduce((sum, n) => sum * 256 + n, 0));
        for (const host of [dotted, whole])
          await expect(egress.request({ url: `http://${host}/` })).rejects.toMatchObject({
            code: 'EGRESS_BLOCKED_ADDRESS',
          });
      }),
      { numRuns: 50 },
    );
  });
});

describe('connections', () => {
  test('go to the address that was checked: an answer that changes afterwards is never used (DNS rebinding)', async () => {
    const target = await serve((request, response) => {
      response.writeHead(200, request.url === '/last' ? { connection: 'close' } : {}).end('public');
    }, '127.0.0.2');
    const secret = createServer(answer('secret'));
    secret.listen(target.port, '127.0.0.1');
    await once(secret, 'listening');
    closers.push(() => secret.close());
    let asked = 0;
    const egress = open({
      // 127.0.0.2 plays the public address, 127.0.0.1 the private one.
      allowPrivate: ['127.0.0.2'],
      resolve: async () => (asked++ === 0 ? ['127.0.0.2'] : ['127.0.0.1']),
      connectionsPerOrigin: 1,
    });
    const url = `http://rebind.test:${target.port}`;
    expect((await egress.request({ url })).body.toString()).toBe('public');
    expect(target.requests[0]?.headers.host).toBe(`rebind.test:${target.port}`);
    // The kept connection still leads to the checked address; a new one is checked anew.
    expect((await egress.request({ url: `${url}/last` })).body.toString()).toBe('public');
    expect(asked).toBe(1);
    await expect(egress.request({ url })).rejects.toMatchObject({ code: 'EGRESS_BLOCKED_ADDRESS' });
    expect(asked).toBe(2);
    expect(target.requests).toHaveLength(2);
  });

  test('over TLS keep the name for SNI, though they go to an address', async () => {
    const hello: Buffer[] = [];
    const server = createTcpServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', (chunk) => {
        hello.push(chunk);
        socket.destroy();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const egress = open({ resolve: async () => ['127.0.0.1'] });
    await expect(egress.request({ url: `https://sni-name.test:${port}/` })).rejects.toMatchObject({
      code: 'EGRESS_CONNECTION_FAILED',
    });
    // The client's first message carries the name in plain text (RFC 6066, section 3).
    expect(Buffer.concat(hello).includes('sni-name.test')).toBe(true);
  });

  test('fall back to the next checked address', async () => {
    const server = await serve(answer('second'), '127.0.0.2');
    const egress = open({ resolve: async () => ['127.0.0.3', '127.0.0.2'] });
    expect((await egress.request({ url: `http://two.test:${server.port}/` })).body.toString()).toBe('second');
  });

  test('are kept for the next request', async () => {
    const server = await serve(answer('ok'));
    const egress = open({ connectionsPerOrigin: 1 });
    for (let i = 0; i < 5; i++) await egress.request({ url: server.url });
    expect(server.connections()).toBe(1);
  });

  test('that are refused are retryable failures without the address in their message', async () => {
    const server = createTcpServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await expect(
      open({ resolve: async () => ['127.0.0.1'] }).request({ url: `http://gone.test:${port}/` }),
    ).rejects.toMatchObject({
      code: 'EGRESS_CONNECTION_FAILED',
      retryable: true,
      message: `Request to gone.test:${port} failed: ECONNREFUSED`,
    });
  });

  test('carry user and password of the URL as basic authentication, and never a given Host', async () => {
    const server = await serve(answer('ok'));
    await open().request({
      url: `http://user:p%40ss@127.0.0.1:${server.port}/`,
      headers: { Host: 'metadata.google.internal' },
    });
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
      host: `127.0.0.1:${server.port}`,
    });
  });
});

describe('redirects', () => {
  test('are answers by default', async () => {
    const server = await serve(answer('', { location: 'http://127.0.0.1:1/' }, 302));
    const response = await open().request({ url: server.url });
    expect(response).toMatchObject({ status: 302, headers: { location: 'http://127.0.0.1:1/' } });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    'http://127.0.0.1:1/',
    'http://169.254.169.254/latest/meta-data/',
    '//[::ffff:7f00:1]/',
    'http://0x7f.1/',
  ])('into forbidden space, %s, are refused when followed', async (location) => {
    const server = await serve(answer('', { location }, 302), '127.0.0.2');
    const egress = open({ allowPrivate: ['127.0.0.2'] });
    await expect(egress.request({ url: server.url, redirects: 3 })).rejects.toMatchObject({
      code: 'EGRESS_BLOCKED_ADDRESS',
    });
  });

  test('to another protocol are refused', async () => {
    const server = await serve(answer('', { location: 'file:///etc/passwd' }, 302));
    await expect(open().request({ url: server.url, redirects: 1 })).rejects.toMatchObject({
      code: 'EGRESS_INVALID_URL',
    });
  });

  test('to another origin lose the authorization, and a POST answered with 303 becomes a GET', async () => {
    const target = await serve(answer('arrived'), '127.0.0.2');
    const server = await serve(answer('', { location: target.url }, 303));
    const response = await open().request({
      url: server.url,
      method: 'POST',
      body: 'text',
      headers: { authorization: 'Bearer token', cookie: 'a=b', 'content-type': 'text/plain', 'x-kept': 'yes' },
      redirects: 1,
    });
    expect(response).toMatchObject({ status: 200, url: target.url });
    const request = target.requests[0];
    expect(request?.method).toBe('GET');
    expect(request?.headers).toMatchObject({ 'x-kept': 'yes' });
    for (const name of ['authorization', 'cookie', 'content-type', 'content-length'])
      expect(request?.headers).not.toHaveProperty(name);
  });

  test('of 307 keep method and body', async () => {
    const bodies: string[] = [];
    const target = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (chunk: string) => bodies.push(chunk));
      request.on('end', () => response.end());
    });
    const server = await serve(answer('', { location: `${target.url}moved` }, 307));
    await open().request({ url: server.url, method: 'PUT', body: 'payload', redirects: 1 });
    expect(target.requests[0]).toMatchObject({ method: 'PUT', url: '/moved' });
    expect(bodies.join('')).toBe('payload');
  });

  test('without end are refused', async () => {
    const server = await serve((request, response) => {
      response.writeHead(302, { location: `${request.url}x` }).end();
    });
    await expect(open().request({ url: server.url, redirects: 4 })).rejects.toMatchObject({
      code: 'EGRESS_TOO_MANY_REDIRECTS',
    });
    expect(server.requests).toHaveLength(5);
  });
});

describe('limits', () => {
  test.each(['silence', 'a trickle of headers', 'a trickle of body'])('of time end %s', async (kind) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => socket.destroy());
      if (kind === 'silence') return;
      if (kind === 'a trickle of body') socket.write('HTTP/1.1 200 OK\r\n\r\n');
      else socket.write('HTTP/1.1 200 OK\r\n');
      const trickle = setInterval(() => socket.write(kind === 'a trickle of body' ? 'x' : 'x-a: b\r\n'), 20);
      socket.on('close', () => clearInterval(trickle));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const startedAt = performance.now();
    await expect(open().request({ url: `http://127.0.0.1:${port}/`, timeoutMs: 200 })).rejects.toMatchObject({
      code: 'EGRESS_TIMEOUT',
      retryable: true,
      facts: { timeout_ms: 200 },
    });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

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
    ['br', brotliCompressSync],
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
    await expect(egress.request({ url: server.url })).rejects.toMatchObject({ code: 'EGRESS_RESPONSE_TOO_LARGE' });
  });

  test('of size hold for compressed bytes that decompress to nothing', async () => {
    const empty = gzipSync('');
    const server = await serve(answer(Buffer.concat(Array<Buffer>(1_000).fill(empty)), { 'content-encoding': 'gzip' }));
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

test('what the allow-list opens is said at the start', () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', destination: { write: (line: string) => void lines.push(line) } });
  open({ allowPrivate: [], logger });
  expect(lines).toHaveLength(0);
  open({ allowPrivate: ['10.0.0.0/8'], logger });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', allow_private: ['10.0.0.0/8'] });
});
