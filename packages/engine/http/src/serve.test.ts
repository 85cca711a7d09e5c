import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type ApiServer, type ServeOptions, serveApi } from './serve.ts';
import { createDemoApi, type DemoApi, fixedKeys, WALLET } from './testing/demo-api.ts';

const open: ApiServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function start(
  demo: DemoApi = createDemoApi(),
  options: Partial<ServeOptions> = {},
): Promise<{ server: ApiServer; url: string; port: number }> {
  const server = await serveApi(demo.app, { host: '127.0.0.1', port: 0, closeDeadlineMs: 2_000, ...options });
  open.push(server);
  return { server, url: server.url, port: Number(new URL(server.url).port) };
}

/** Sends raw text and reads until the server closes the connection. */
async function sendRaw(port: number, text: string): Promise<{ head: string; body: string }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
  return { head, body };
}

describe('a served API', () => {
  test('answers over HTTP', async () => {
    const { url } = await start();
    const response = await fetch(`${url}/demo/${WALLET}/rows?limit=2`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ page_size: 2, result: [{ n: 119 }, { n: 118 }] });
    const head = await fetch(`${url}/demo/small`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
  });

  test('compresses', async () => {
    const { url } = await start();
    const compressed = await fetch(`${url}/demo/logs`, { headers: { 'accept-encoding': 'gzip' } });
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(await compressed.json()).toEqual({ text: 'x'.repeat(10_000) });
  });

  test('answers 431 in the envelope to headers, and to a URL, above the limit', async () => {
    const { port, url } = await start(createDemoApi(), { headerBytesMax: 2_048 });
    for (const request of [
      `GET /demo/small HTTP/1.1\r\nHost: localhost\r\nX-Large: ${'x'.repeat(3_000)}\r\n\r\n`,
      `GET /demo/small HTTP/1.1\r\nHost: localhost\r\n${'X-1: 1\r\n'.repeat(1_500)}\r\n`,
      `GET /demo/small?x=${'x'.repeat(3_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    ]) {
      const { head, body } = await sendRaw(port, request);
      expect(head).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large/);
      expect(head).toMatch(/x-request-id: [0-9a-f-]{36}/);
      expect(JSON.parse(body)).toEqual({ message: 'Request line and headers are too large' });
    }
    expect((await fetch(`${url}/demo/small`)).status).toBe(200);
  });

  test.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'],
    ['a space in a header name', 'GET / HTTP/1.1\r\nHost: localhost\r\nX Bad: 1\r\n\r\n'],
    ['a malformed Host', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a backslash in the path', 'GET /a\\b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'],
  ])('answers 400 to %s', async (_name, text) => {
    const { port } = await start();
    const { head } = await sendRaw(port, text);
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
  });

  // The client does not stop when the server ends its side. Node would read the body on to drop it, at the speed of the client.
  test.each([
    ['at once', 0],
    ['later', 50],
  ])('reads no more of a body that it answers %s without reading', async (_when, waitMs) => {
    let server: Socket | undefined;
    const { port } = await start(createDemoApi(), {
      rawHandler: (incoming, outgoing) => {
        server = incoming.socket;
        const answer = () => outgoing.writeHead(401).end();
        if (waitMs === 0) answer();
        else setTimeout(answer, waitMs);
        return true;
      },
    });
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const send = (): void => {
      while (client.writable && client.write(piece));
    };
    client
      .on('drain', send)
      .on('error', () => undefined)
      .resume();
    client.write('POST /endless HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
    send();
    await new Promise((resolve) => client.once('close', resolve));
    expect(server?.bytesRead).toBeGreaterThan(0);
    expect(server?.bytesRead).toBeLessThan(1_048_576);
  });

  test('answers 408 to a request that never ends', async () => {
    const { port } = await start(createDemoApi(), { receiveTimeoutMs: 100 });
    const { head, body } = await sendRaw(port, 'GET /demo/small HTTP/1.1\r\nHost: localhost\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 408 /);
    expect(JSON.parse(body)).toEqual({ message: 'The request took too long to arrive' });
  });

  test('guards an open server by the Host that was really sent', async () => {
    const { port } = await start();
    const ask = (host: string) =>
      sendRaw(port, `GET /demo/small HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect((await ask(`127.0.0.1:${port}`)).head).toMatch(/^HTTP\/1\.1 200 /);
    expect((await ask('rebound.example')).head).toMatch(/^HTTP\/1\.1 403 /);
    const absolute = `GET http://localhost/demo/small HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n`;
    expect((await sendRaw(port, absolute)).head).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('rejects when the address is taken', async () => {
    const { port } = await start();
    await expect(serveApi(createDemoApi().app, { host: '127.0.0.1', port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  test('writes IPv6 addresses as URLs', async () => {
    const { url } = await start(createDemoApi({ host: '::1', keys: fixedKeys() }), { host: '::1' });
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${url}/demo/small`)).status).toBe(200);
  });
});

describe('close', () => {
  function ask(agent: Agent, url: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      httpRequest(url, { agent }, resolve).on('error', reject).end();
    });
  }

  test('lets a request finish, accepts no new one, and is not held up by kept connections', async () => {
    const demo = createDemoApi();
    const { server, url } = await start(demo, { closeDeadlineMs: 30_000 });
    const agent = new Agent({ keepAlive: true });
    // An idle keep-alive connection.
    (await ask(agent, `${url}/demo/small`)).resume();
    const slow = ask(agent, `${url}/demo/slow`);
    await demo.entered;
    const closed = server.close();
    await expect(fetch(`${url}/demo/small`)).rejects.toThrow('fetch failed');
    demo.release();
    const response = await slow;
    expect(response.statusCode).toBe(200);
    response.resume();
    await closed;
    agent.destroy();
  });

  test('with a grace, takes one more request over each idle connection, and accepts no new one', async () => {
    const { server, url } = await start();
    const agents = [1, 2, 3].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
    const text = async (agent: Agent) => {
      const response = await ask(agent, `${url}/demo/small`);
      response.resume();
      await once(response, 'end');
      return [response.statusCode, response.headers.connection];
    };
    for (const agent of agents) expect(await text(agent)).toEqual([200, 'keep-alive']);
    let isClosed = false;
    const closed = server.close({ idleGraceMs: 1_500 }).then(() => {
      isClosed = true;
    });
    await expect(fetch(`${url}/demo/small`)).rejects.toThrow('fetch failed');
    const [used, another] = agents;
    for (const agent of [used, another])
      if (agent !== undefined) expect(await text(agent)).toEqual([200, 'close']);
    // The third client keeps its connection unused until the grace period ends.
    expect(isClosed).toBe(false);
    await closed;
    for (const agent of agents) agent.destroy();
  });

  test('is done at once, whatever the grace, when no connection is left', async () => {
    const { server } = await start(createDemoApi(), { closeDeadlineMs: 60_000 });
    await server.close({ idleGraceMs: 60_000 });
  });

  test('ends what is still running at the deadline', async () => {
    const demo = createDemoApi();
    const { server, url } = await start(demo, { closeDeadlineMs: 50 });
    const slow = fetch(`${url}/demo/slow`);
    await demo.entered;
    const outcome = expect(slow).rejects.toThrow('fetch failed');
    await server.close();
    await outcome;
    demo.release();
  });

  test('may be called again', async () => {
    const { server } = await start();
    await Promise.all([server.close(), server.close()]);
    await expect(server.close()).resolves.toBeUndefined();
  });
});
