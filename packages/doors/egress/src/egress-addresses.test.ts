import { createLogger } from '@chainstead/core';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { answer, closeAll, open, serve } from './testing/local-servers.ts';

afterEach(closeAll);

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

  test.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'data:,x',
    'gopher://127.0.0.1/',
    'unix:/run/docker.sock',
  ])('of another protocol, %s, are refused', async (url) => {
    await expect(open().request({ url })).rejects.toMatchObject({ code: 'EGRESS_INVALID_URL' });
  });

  test('of a name are all checked: one private address among public ones refuses the name', async () => {
    const server = await serve(answer('secret'));
    const egress = open({
      allowPrivate: [],
      resolve: async () => ['93.184.216.34', '2606:2800::1', '127.0.0.1'],
    });
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

  // Invariant: EGRESS-PUBLIC-ADDRESS
  test('any private IPv4 address in any numeric spelling is refused', async () => {
    const egress = open({ allowPrivate: false, timeoutMs: 20_000 });
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
      fc.asyncProperty(
        privateV4,
        fc.array(spelling, { minLength: 4, maxLength: 4 }),
        async (octets, spellings) => {
          const dotted = octets.map((n, index) => (spellings[index] ?? String)(n)).join('.');
          const whole = (spellings[0] ?? String)(octets.reduce((sum, n) => sum * 256 + n, 0));
          for (const host of [dotted, whole])
            await expect(egress.request({ url: `http://${host}/` })).rejects.toMatchObject({
              code: 'EGRESS_BLOCKED_ADDRESS',
            });
        },
      ),
      { numRuns: 50 },
    );
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

describe('an origin that may be private', () => {
  const redirectTo = (location: string) =>
    serve((_request, response) => response.writeHead(302, { location }).end());

  test('is reached, and so are its own paths', async () => {
    const server = await serve(({ url }, response) => {
      if (url === '/') response.writeHead(302, { location: '/list' });
      response.end('the list');
    });
    const egress = open({ allowPrivate: false, privateOrigin: new URL(server.url).origin });
    const { body } = await egress.request({ url: server.url, redirects: 1 });
    expect(body.toString()).toBe('the list');
  });

  test.each(['another port', 'another scheme', 'another name'])(
    'leads to no private address with %s',
    async (other) => {
      const secret = await serve(answer('secret'));
      const target =
        other === 'another port'
          ? secret.url
          : other === 'another name'
            ? secret.url.replace('127.0.0.1', 'localhost')
            : '';
      const server = await redirectTo(target === '' ? `https://127.0.0.1:${secret.port}/` : target);
      const egress = open({ allowPrivate: false, privateOrigin: new URL(server.url).origin });
      await expect(egress.request({ url: server.url, redirects: 3 })).rejects.toMatchObject({
        code: 'EGRESS_BLOCKED_ADDRESS',
      });
      expect(secret.connections()).toBe(0);
    },
  );

  test('is private no more once its name had a public address', async () => {
    const server = await serve(answer('secret'));
    const addresses = [['8.8.8.8', '127.0.0.1'], ['127.0.0.1']];
    const url = `http://rebound.example:${server.port}/`;
    const egress = open({
      allowPrivate: false,
      privateOrigin: new URL(url).origin,
      timeoutMs: 2_000,
      resolve: async () => addresses.shift() ?? [],
    });
    for (const _ of [...addresses])
      await expect(egress.request({ url })).rejects.toMatchObject({ code: 'EGRESS_BLOCKED_ADDRESS' });
    expect(server.connections()).toBe(0);
  });
});
