import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { sql } from '@chainstead/db';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { base32 } from 'multiformats/bases/base32';
import { CID } from 'multiformats/cid';
import { create } from 'multiformats/hashes/digest';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { addressOf, exampleCollection, serveContracts } from './testing/example-contracts.ts';
import { type ExampleReading, requestFor, rowOf, startReading } from './testing/example-reading.ts';
import { type ExampleServer, serveExample } from './testing/example-server.ts';

/** The only reachable address of this machine: the server listens there, all others are private. */
const ALLOWED = ['127.0.0.1/32'];
const MEBIBYTE = 1_048_576;
const rawCid = (content: string): string =>
  CID.createV1(0x55, create(0x12, hash('sha256', content, 'buffer'))).toString(base32);

const server: ExampleServer = await serveExample({
  '/to-private-name': (_, response) => response.writeHead(307, { location: 'http://internal.example/' }).end(),
  '/to-file': (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/huge': (_, response) => response.end(Buffer.alloc(2 * MEBIBYTE + 1, 'x')),
  '/endless': (_, response) => {
    const feed = (): void => {
      while (response.write(Buffer.alloc(65_536)));
      response.once('drain', feed);
    };
    response.on('close', () => response.removeAllListeners('drain'));
    feed();
  },
  '/bomb': (_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50 * MEBIBYTE))),
  '/silent': () => undefined,
  '/slow': (_, response) => {
    const drip = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(drip));
  },
  '/deeper': '['.repeat(MEBIBYTE),
  '/page': '<!doctype html><title>Not found</title>',
  '/gone': (_, response) => response.writeHead(410).end('{"name":"gone"}'),
  [`/ipfs/${rawCid('honest')}`]: 'a lie',
});

async function resolve(hostname: string): Promise<readonly string[]> {
  if (hostname === 'internal.example') return ['10.1.2.3'];
  throw new Error('no such name');
}

const own = (path: string): string => `${server.url}${path}`;

/**
 * One URI per stage at which reading can fail. Addresses, spellings and limits have their own tables (packages/doors/egress,
 * document-place.test.ts).
 */
const HOSTILE: readonly (readonly [uri: string, code: string])[] = [
  ['http://127.0.0.2/', 'EGRESS_BLOCKED_ADDRESS'],
  ['http://169.254.169.254/latest/meta-data/', 'EGRESS_BLOCKED_ADDRESS'],
  ['http://internal.example/', 'EGRESS_BLOCKED_ADDRESS'],
  ['http://no-such-name.example/', 'EGRESS_DNS_FAILED'],
  [own('/to-private-name'), 'EGRESS_BLOCKED_ADDRESS'],
  [own('/to-file'), 'EGRESS_INVALID_URL'],
  ['file:///etc/passwd', 'DOCUMENT_URI_UNSUPPORTED'],
  [`http://user:secret@127.0.0.1:${server.port}/page`, 'DOCUMENT_URI_INVALID'],
  [own('/huge'), 'EGRESS_RESPONSE_TOO_LARGE'],
  [own('/endless'), 'EGRESS_RESPONSE_TOO_LARGE'],
  [own('/bomb'), 'EGRESS_RESPONSE_TOO_LARGE'],
  [own('/silent'), 'EGRESS_TIMEOUT'],
  [own('/slow'), 'EGRESS_TIMEOUT'],
  [own('/deeper'), 'DOCUMENT_TOO_DEEP'],
  [own('/page'), 'DOCUMENT_NOT_JSON'],
  [own('/gone'), 'DOCUMENT_HTTP_STATUS'],
  ['data:application/json;base64,name:1', 'DOCUMENT_DATA_INVALID'],
  [`data:application/json;base64,${Buffer.alloc(2 * MEBIBYTE + 3).toString('base64')}`, 'DOCUMENT_TOO_LARGE'],
  ['ipfs://QmInvalid', 'DOCUMENT_CID_INVALID'],
  [`ipfs://${rawCid('honest')}`, 'DOCUMENT_CID_MISMATCH'],
  [`ipfs://${rawCid('honest')}/../../api/v0/shutdown`, 'DOCUMENT_URI_INVALID'],
];

const contracts = new Map(
  HOSTILE.map(([uri], index) => [
    addressOf(index),
    exampleCollection('erc721', { name: `N${index}`, contractUri: uri }),
  ]),
);
let scratch: ScratchDatabase;
let reading: ExampleReading;

describe('a contract with a hostile contractURI', () => {
  beforeAll(async () => {
    scratch = await createScratchDatabase();
    const node = await serveContracts(contracts);
    await requestFor(scratch.database, node.chainId, ...contracts.keys());
    reading = await startReading({
      database: scratch.database,
      node,
      allowPrivate: ALLOWED,
      resolve,
      ipfsGateways: [server.url],
      // Two of them use up the timeout. It is long enough that a stalled machine fails none of the others.
      documentTimeoutMs: 10_000,
    });
    await vi.waitFor(
      async () =>
        expect(
          await scratch.database.query(
            sql`SELECT FROM nft_collections WHERE status = 'pending' OR synced_at IS NULL`,
          ),
        ).toEqual([]),
      { timeout: 60_000, interval: 100 },
    );
    return () => node.close();
  }, 90_000);
  afterAll(async () => {
    await reading.close();
    await server.close();
    await scratch.drop();
  });

  test.each(HOSTILE.map(([uri, code], index) => [uri.slice(0, 60), code, index] as const))(
    '%s is known by its name alone, with %s',
    async (_, code, index) => {
      expect(await rowOf(scratch.database, addressOf(index))).toMatchObject({
        status: 'known',
        name: `N${index}`,
        collectionLogo: null,
        errorCode: code,
      });
    },
  );

  test('reached nothing but the server that it may reach', () => {
    expect(server.requests.filter((path) => path.includes('api') || path.includes('passwd'))).toEqual([]);
    expect(server.requests).toContain('/huge');
  });
});
