import { createChainRegistry } from '@chainstead/chains';
import { systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterEach, describe, expect, test } from 'vitest';
import { type ExampleServer, serveExample } from '../collections/testing/example-server.ts';
import { seedMetadata } from '../records/testing/seeded-tokens.ts';
import {
  createPictureReader,
  type PictureReader,
  type PictureReaderOptions,
  PicturesBusyError,
} from './picture-reader.ts';

const eth = createChainRegistry().get('eth');
const APES = addressOf(0xa9e5);
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100, 7)]);

const scratch = scratchOfFile();

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await scratch.database.query(sql`TRUNCATE nft_token_metadata, nft_collections`);
});

function open(options: Partial<PictureReaderOptions> & { readonly allowPrivate?: readonly string[] } = {}) {
  const egress = createEgress({ allowPrivate: options.allowPrivate ?? ['127.0.0.1/32'] });
  closers.push(() => egress.close());
  return createPictureReader({ egress, ipfsGateways: [], arweaveGateways: [], clock: systemClock, ...options });
}

async function serve(answers: Parameters<typeof serveExample>[0]): Promise<ExampleServer> {
  const server = await serveExample(answers);
  closers.push(() => server.close());
  return server;
}

async function name(image: string, id = '1'): Promise<void> {
  await seedMetadata(scratch.database, eth, { address: APES, id }, { text: JSON.stringify({ image }) });
}

const read = (reader: PictureReader, tokenId: string | null = '1') =>
  reader.read(scratch.database, eth, { token: APES, tokenId });

describe('a picture', () => {
  test('is read from where the document names it, and its type is what its bytes say', async () => {
    const server = await serve({
      '/ape.png': (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PNG),
    });
    await name(`${server.url}/ape.png`);
    expect(await read(open())).toEqual({ bytes: PNG, type: 'image/png' });
  });

  test('may stand in the document itself', async () => {
    await name(`data:image/png;base64,${PNG.toString('base64')}`);
    const { bytes, type } = await read(open());
    expect([Buffer.from(bytes), type]).toEqual([PNG, 'image/png']);
  });

  test('of a collection is its logo', async () => {
    const server = await serve({ '/logo.gif': Buffer.from('GIF89a…') });
    await scratch.database.query(
      sql`INSERT INTO nft_collections (token_address, chain_id, status, collection_logo) VALUES (decode(${APES.slice(2)}, 'hex'), ${eth.id}, 'known', ${`${server.url}/logo.gif`})`,
    );
    expect((await read(open(), null)).type).toBe('image/gif');
  });

  test.each([
    ['a token that nobody has asked about', async () => undefined],
    ['a document that names none', () => name('')],
  ])('of %s is unknown', async (_name, prepare) => {
    await prepare();
    await expect(read(open())).rejects.toMatchObject({ code: 'PICTURE_UNKNOWN', status: 404 });
  });
});

describe('what is no picture, or must not be asked', () => {
  const HTML = '<html><script>alert(1)</script>';
  const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>';

  test.each([
    ['HTML that says to be a picture', HTML],
    ['SVG', SVG],
    ['nothing', ''],
  ])('%s is not passed on', async (_name, body) => {
    const server = await serve({
      '/x': (_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(body),
    });
    await name(`${server.url}/x`);
    await expect(read(open())).rejects.toMatchObject({
      code: 'PICTURE_UNREADABLE',
      message: expect.stringMatching(/PNG/),
    });
    await name(`data:image/png,${body}`, '2');
    await expect(read(open(), '2')).rejects.toMatchObject({ code: 'PICTURE_UNREADABLE' });
  });

  test.each([
    'http://127.0.0.1:1/x',
    'http://10.0.0.7/x',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/x',
  ])('%s is never connected to', async (url) => {
    await name(url);
    await expect(read(open({ allowPrivate: [] }))).rejects.toMatchObject({
      code: 'PICTURE_UNREADABLE',
      message: expect.stringContaining('EGRESS_BLOCKED_ADDRESS'),
    });
  });

  test('a redirect into this machine is not followed', async () => {
    const inner = await serve({ '/secret': PNG });
    const server = await serve({
      '/x': (_request, response) =>
        response.writeHead(302, { location: `http://127.0.0.2:${inner.port}/secret` }).end(),
    });
    await name(`${server.url}/x`);
    await expect(read(open())).rejects.toMatchObject({
      message: expect.stringContaining('EGRESS_BLOCKED_ADDRESS'),
    });
    expect(inner.requests).toEqual([]);
  });

  test.each([
    'file:///etc/passwd',
    'javascript:alert(1)',
    'ftp://example.com/x',
    `http://${'x'.repeat(1_000_000)}`,
  ])('a place such as %.20s is not understood', async (place) => {
    await name(place);
    await expect(read(open())).rejects.toMatchObject({ code: 'PICTURE_UNREADABLE', status: 404 });
  });

  test('a body without end is cut off, by its size', async () => {
    let sent = 0;
    const server = await serve({
      '/endless': (_request, response) => {
        response.writeHead(200);
        const more = (): void => {
          sent += PNG.length;
          if (!response.destroyed) response.write(PNG, () => setImmediate(more));
        };
        more();
      },
    });
    await name(`${server.url}/endless`);
    await expect(read(open({ bytesMax: 10_000 }))).rejects.toMatchObject({
      message: expect.stringContaining('EGRESS_RESPONSE_TOO_LARGE'),
    });
    expect(sent).toBeLessThan(10_000_000);
  });

  test('a server that says nothing is given up', async () => {
    const server = await serve({ '/silent': () => undefined });
    await name(`${server.url}/silent`);
    await expect(read(open({ timeoutMs: 100 }))).rejects.toMatchObject({
      code: 'PICTURE_UNREADABLE',
      message: expect.stringMatching(/100 ms/),
    });
  });
});

test('few are read at once, and no more wait than may', async () => {
  let [under, most, busy] = [0, 0, 0];
  const gate = Promise.withResolvers<void>();
  // No response arrives before three were rejected and both slots are in use.
  const openGate = (): void => {
    if (busy === 3 && under === 2) gate.resolve();
  };
  const server = await serve({
    '/slow': (_request, response) => {
      under += 1;
      most = Math.max(most, under);
      openGate();
      void gate.promise.then(() => {
        under -= 1;
        response.end(PNG);
      });
    },
  });
  await name(`${server.url}/slow`);
  const reader = open({ atOnce: 2, waitingMax: 3 });
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, async () => {
      try {
        return (await read(reader)).type;
      } catch (error) {
        busy += 1;
        openGate();
        return error instanceof PicturesBusyError ? 'busy' : String(error);
      }
    }),
  );
  expect(most).toBe(2);
  expect(outcomes.toSorted()).toEqual([...Array(3).fill('busy'), ...Array(5).fill('image/png')]);
});
