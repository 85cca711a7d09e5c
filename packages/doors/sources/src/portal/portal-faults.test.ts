import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import zlib from 'node:zlib';
import type { JsonObject, SourceFaultSettings } from '@chainstead/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { StreamDeadlines } from '../http-stream/http-streams.ts';
import type { SourceFault } from '../source-error.ts';
import { faultOf, readBlocks } from '../testing/read-all.ts';
import { CHAIN, scriptedChain, sourceOver } from '../testing/source-stage.ts';
import { openPortalSource } from './open-portal-source.ts';

const RANGE = { from: 100, to: 132 };
const HTML = '<!DOCTYPE html><html><body>Bad gateway</body></html>';

describe('a status', () => {
  test.each<[status: number, fault: SourceFault, retryAfterMs: number | null, change?: object]>([
    [429, 'busy', 7_000, { retryAfterSeconds: 7 }],
    [429, 'busy', null],
    [503, 'busy', 1_000, { retryAfterSeconds: 1 }],
    [529, 'busy', null],
    [500, 'unavailable', null],
    [502, 'unavailable', null, { body: HTML }],
    [504, 'unavailable', null],
    [404, 'refused', null],
    [401, 'refused', null],
    [400, 'refused', null, { body: 'Query is too large' }],
    [422, 'refused', null],
    [409, 'wrong', null, { body: '{"previousBlocks":[{"number":9,"hash":"0x00"}]}' }],
    [301, 'refused', null],
    [302, 'unavailable', null],
    [206, 'wrong', null],
  ])('of %i is %s, after %s ms', async (status, fault, retryAfterMs, change) => {
    const { source, server } = await sourceOver('portal', scriptedChain(), {
      status: { rate: 1, status, ...change },
    });
    const facts = await faultOf(readBlocks(source, RANGE));
    expect(facts).toMatchObject({ fault, retry_after_ms: retryAfterMs });
    expect(facts.what).toContain(String(status));
    expect(facts.what).not.toContain('<');
    // Nothing is repeated here, and no redirect is followed.
    expect(server.queries.length).toBe(1);
  });
});

describe('a lie about the order of blocks is wrong', () => {
  test.each<[string, (line: JsonObject) => JsonObject | null]>([
    ['a hole', (line) => (numberOf(line) === 110 ? null : line)],
    ['a repeated block', (line) => withHeader(line, 110, { number: 109 })],
    ['a block beyond the range', (line) => withHeader(line, 132, { number: 133 })],
    ['another parent', (line) => withHeader(line, 110, { parentHash: `0x${'ab'.repeat(32)}` })],
    ['no number', (line) => withHeader(line, 110, { number: 'x' })],
    ['no hash', (line) => withHeader(line, 110, { hash: null })],
    ['a number beyond 2^53', (line) => withHeader(line, 110, { timestamp: 2 ** 53 })],
    ['a fraction', (line) => withHeader(line, 110, { timestamp: 1.5 })],
    ['no object', (line) => (numberOf(line) === 110 ? { header: [] } : line)],
    ['rows that are no list', (line) => ({ ...line, logs: { '0': {} } })],
    ['a missing transaction', (line) => ({ ...line, transactions: rows(line, 'transactions').slice(1) })],
    ['a log of no transaction', (line) => changeLogs(line, (log) => ({ ...log, transactionIndex: 900 }))],
    [
      'a log of another transaction',
      (line) => changeLogs(line, (log) => ({ ...log, transactionHash: `0x${'ab'.repeat(32)}` })),
    ],
    ['a short topic', (line) => changeLogs(line, (log) => ({ ...log, topics: ['0xab'] }))],
  ])('%s', async (_, tamper) => {
    const { source } = await sourceOver('portal', scriptedChain(), { tamper });
    expect(await faultOf(readBlocks(source, RANGE))).toMatchObject({ fault: 'wrong' });
  });

  test('even between two responses', async () => {
    const faults: Partial<SourceFaultSettings> = {
      pageBlocks: 5,
      tamper: (line) => withHeader(line, 110, { parentHash: `0x${'ab'.repeat(32)}` }),
    };
    const { source } = await sourceOver('portal', scriptedChain(), faults);
    expect(await faultOf(readBlocks(source, RANGE))).toMatchObject({ fault: 'wrong' });
  });
});

describe('a body', () => {
  test.each<[string, SourceFault, RequestListener]>([
    ['of HTML', 'wrong', (_, response) => void response.end(HTML)],
    ['that is no JSON', 'wrong', (_, response) => void response.end('{"header":}\n')],
    ['that is cut in its first line', 'unavailable', (_, response) => void response.end('{"header":{"number":1')],
    ['nested too deeply', 'wrong', (_, response) => void response.end(`{"header":${'['.repeat(100)}\n`)],
    [
      'in another compression',
      'wrong',
      (_, response) => {
        response.writeHead(200, { 'content-encoding': 'br' });
        response.end('x');
      },
    ],
    [
      'that is a gzip bomb',
      'wrong',
      (_, response) => void response.end(zlib.gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '))),
    ],
    [
      'that is a zstd bomb',
      'wrong',
      (_, response) => void response.end(zlib.zstdCompressSync(Buffer.alloc(16 * 1024 * 1024, ' '))),
    ],
    [
      'of damaged gzip',
      'wrong',
      (_, response) => void response.end(Buffer.from('1f8b0800010203040506070809', 'hex')),
    ],
    ['of a closed connection', 'unavailable', (request) => void request.socket.destroy()],
  ])('%s is %s', async (_, fault, listener) => {
    const source = await listening(listener);
    expect(await faultOf(readBlocks(source, RANGE))).toMatchObject({ fault });
  });

  test.each<[string, RequestListener]>([
    ['never begins', () => undefined],
    ['stops', (_, response) => void response.write('{"header":')],
    ['drips', (_, response) => void drip(response)],
  ])('that %s is unavailable after a time', async (_, listener) => {
    const source = await listening(listener, { headersMs: 300, idleMs: 300, windowMs: 200, windowBytesMin: 100 });
    expect(await faultOf(readBlocks(source, RANGE))).toMatchObject({ fault: 'unavailable' });
  });

  test('in tiny pieces is read whole', async () => {
    const line = JSON.stringify({ header: { number: 'x'.repeat(300) } });
    const source = await listening((_, response) => {
      void (async () => {
        for (const byte of `${line}\n`) {
          response.write(byte);
          await sleep(0);
        }
        response.end();
      })();
    });
    expect(await faultOf(readBlocks(source, RANGE))).toMatchObject({
      what: expect.stringContaining('is not a quantity'),
    });
  });

  test('of a reader that gives up ends with its reason', async () => {
    const source = await listening(() => undefined);
    const controller = new AbortController();
    const work = readBlocks(source, RANGE, controller.signal);
    const reason = new Error('stopped');
    setTimeout(() => controller.abort(reason), 20);
    await expect(work).rejects.toBe(reason);
  });
});

test('a slow reader is no fault of the source', async () => {
  const chain = scriptedChain();
  const { server } = await sourceOver('portal', chain);
  const deadlines = { idleMs: 500, windowMs: 500, windowBytesMin: 10_000_000 };
  const source = openPortalSource({ url: server.url, chain: CHAIN, deadlines });
  onTestFinished(() => source.close());
  let blocks = 0;
  for await (const _ of source.readBlocks(RANGE, { transactions: true }, new AbortController().signal)) {
    if (blocks++ === 0) await sleep(700);
  }
  expect(blocks).toBe(33);
});

test('keys of the URL and of headers are in no error', async () => {
  const source = await listening(
    (request, response) => {
      response.writeHead(400);
      response.end(`${request.url} ${request.headers['x-api-key']} ${request.headers.authorization}`);
    },
    {},
    { path: '/datasets/secret-path-1?key=secret-query-1', headers: { 'x-api-key': 'secret-header-1' } },
  );
  const { what } = await faultOf(readBlocks(source, RANGE));
  expect(what).toContain('[redacted]');
  expect(what).not.toContain('secret-');
});

/** A Portal source over one listener; it and its server are closed when the test ends. */
async function listening(
  listener: RequestListener,
  deadlines: Partial<StreamDeadlines> = {},
  {
    path = '/datasets/x',
    headers = {},
  }: { readonly path?: string; readonly headers?: Record<string, string> } = {},
) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const source = openPortalSource({
    url,
    headers,
    chain: CHAIN,
    deadlines,
  });
  onTestFinished(async () => {
    await source.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return source;
}

async function drip(response: { write(text: string): unknown; destroyed: boolean }): Promise<void> {
  while (!response.destroyed) {
    response.write(' ');
    await sleep(20);
  }
}

function numberOf(line: JsonObject): unknown {
  return (line.header as JsonObject).number;
}

function rows(line: JsonObject, name: string): readonly JsonObject[] {
  return (line[name] ?? []) as readonly JsonObject[];
}

function withHeader(line: JsonObject, number: number, change: JsonObject): JsonObject {
  return numberOf(line) === number ? { ...line, header: { ...(line.header as JsonObject), ...change } } : line;
}

function changeLogs(line: JsonObject, change: (log: JsonObject) => JsonObject): JsonObject {
  return { ...line, logs: rows(line, 'logs').map(change) };
}
