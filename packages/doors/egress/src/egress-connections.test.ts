import { afterEach, describe, expect, test } from 'vitest';
import { answer, closeAll, freePort, open, serve, serveTcp } from './testing/local-servers.ts';

afterEach(closeAll);

describe('connections', () => {
  // Invariant: EGRESS-PUBLIC-ADDRESS
  test('go to the address that was checked: an answer that changes afterwards is never used (DNS rebinding)', async () => {
    const target = await serve((request, response) => {
      response.writeHead(200, request.url === '/last' ? { connection: 'close' } : {}).end('public');
    }, '127.0.0.2');
    await serve(answer('secret'), '127.0.0.1', target.port);
    let requested = 0;
    const egress = open({
      // 127.0.0.2 plays the public address, 127.0.0.1 the private one.
      allowPrivate: ['127.0.0.2'],
      resolve: async () => (requested++ === 0 ? ['127.0.0.2'] : ['127.0.0.1']),
      connectionsPerOrigin: 1,
    });
    const url = `http://rebind.test:${target.port}`;
    expect((await egress.request({ url })).body.toString()).toBe('public');
    expect(target.requests[0]?.headers.host).toBe(`rebind.test:${target.port}`);
    // The kept connection still leads to the checked address; a new one is checked again.
    expect((await egress.request({ url: `${url}/last` })).body.toString()).toBe('public');
    expect(requested).toBe(1);
    await expect(egress.request({ url })).rejects.toMatchObject({ code: 'EGRESS_BLOCKED_ADDRESS' });
    expect(requested).toBe(2);
    expect(target.requests).toHaveLength(2);
  });

  test('over TLS keep the name for SNI, though they go to an address', async () => {
    const hello: Buffer[] = [];
    const port = await serveTcp((socket) => {
      socket.once('data', (chunk: Buffer) => {
        hello.push(chunk);
        socket.destroy();
      });
    });
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
    const port = await freePort();
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
