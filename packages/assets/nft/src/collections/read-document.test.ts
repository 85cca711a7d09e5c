import { hash } from 'node:crypto';
import { systemClock } from '@chainstead/core';
import { createEgress, type Egress } from '@chainstead/egress';
import { base32 } from 'multiformats/bases/base32';
import { CID } from 'multiformats/cid';
import { create } from 'multiformats/hashes/digest';
import { afterEach, describe, expect, test } from 'vitest';
import { type Document, writeUnixfsFile } from './fetch-document.ts';
import { createDocumentReader } from './read-document.ts';
import { type ExampleServer, serveExample } from './testing/example-server.ts';

const RAW = 0x55;
const DAG_PB = 0x70;
const SHA2_256 = 0x12;
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Returns the identifier of a block. */
function cidOf(codec: number, block: Uint8Array, version: 0 | 1 = 1): string {
  const digest = create(SHA2_256, hash('sha256', block, 'buffer'));
  return version === 0 ? CID.createV0(digest).toString() : CID.createV1(codec, digest).toString(base32);
}

async function serve(answers: Parameters<typeof serveExample>[0]): Promise<ExampleServer> {
  const server = await serveExample(answers);
  closers.push(() => server.close());
  return server;
}

function open(gateways: { ipfs?: readonly string[]; arweave?: readonly string[] }) {
  const egress: Egress = createEgress({ allowPrivate: ['127.0.0.0/8'] });
  closers.push(() => egress.close());
  return createDocumentReader({
    egress,
    ipfsGateways: gateways.ipfs ?? [],
    arweaveGateways: gateways.arweave ?? [],
    clock: systemClock,
  });
}
const read = (reader: ReturnType<typeof open>, uri: string): Promise<Document> =>
  reader.read(uri, new AbortController().signal);
const text = ({ bytes }: Document): string => Buffer.from(bytes).toString();

const FILE = Buffer.from('{"name":"A"}');
const LARGE = Buffer.alloc(300_000, 'x');

describe('a document on IPFS', () => {
  test('is proven for an identifier of raw bytes', async () => {
    const cid = cidOf(RAW, FILE);
    const gateway = await serve({ [`/ipfs/${cid}`]: FILE });
    const document = await read(open({ ipfs: [gateway.url] }), `ipfs://${cid}`);
    expect([text(document), document.verified]).toEqual([FILE.toString(), true]);
  });

  test('is proven for a file in one block, given as the block or as the file', async () => {
    const block = writeUnixfsFile(FILE);
    const cid = cidOf(DAG_PB, block, 0);
    for (const given of [Buffer.from(block), FILE]) {
      const gateway = await serve({ [`/ipfs/${cid}`]: given });
      const document = await read(open({ ipfs: [`${gateway.url}/`] }), `ipfs://${cid}/`);
      expect([text(document), document.verified]).toEqual([FILE.toString(), true]);
    }
  });

  test('knows the identifier that kubo gives a small file', () => {
    // `echo hello | ipfs add`
    expect(cidOf(DAG_PB, writeUnixfsFile(Buffer.from('hello\n')), 0)).toBe(
      'QmZULkCELmmk5XNfCgTnCyFgAVxBRBXyDHGGMVoLFLiXEN',
    );
  });

  test('is proven when it is empty', async () => {
    const cid = cidOf(DAG_PB, writeUnixfsFile(new Uint8Array()));
    expect(cidOf(DAG_PB, writeUnixfsFile(new Uint8Array()), 0)).toBe(
      'QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH',
    );
    const gateway = await serve({ [`/ipfs/${cid}`]: Buffer.alloc(0) });
    expect(await read(open({ ipfs: [gateway.url] }), `ipfs://${cid}`)).toMatchObject({ verified: true });
  });

  test('of several blocks is taken as it comes, after its root was proven', async () => {
    const root = Buffer.from('120612001a00180a0a0408021805', 'hex');
    const cid = cidOf(DAG_PB, root);
    const gateway = await serve({
      [`/ipfs/${cid}`]: (request, response) => response.end(request.url?.includes('format=raw') ? root : FILE),
    });
    const document = await read(open({ ipfs: [gateway.url] }), `ipfs://${cid}`);
    expect([text(document), document.verified]).toEqual([FILE.toString(), null]);
  });

  test('too large for one block is taken as it comes from a gateway that gives no blocks', async () => {
    const cid = cidOf(DAG_PB, Buffer.from('some root'));
    const gateway = await serve({ [`/ipfs/${cid}`]: LARGE });
    const document = await read(open({ ipfs: [gateway.url] }), `ipfs://${cid}`);
    expect([document.bytes.length, document.verified]).toEqual([LARGE.length, null]);
  });

  test('below a path is not proven', async () => {
    const cid = cidOf(DAG_PB, Buffer.from('a directory'));
    const gateway = await serve({ [`/ipfs/${cid}/%231.json`]: FILE });
    const document = await read(open({ ipfs: [gateway.url] }), `ipfs://${cid}/#1.json`);
    expect([text(document), document.verified]).toEqual([FILE.toString(), null]);
    expect(gateway.requests).toEqual([`/ipfs/${cid}/%231.json`]);
  });

  test('comes from the next gateway when one lies, fails or does not answer', async () => {
    const cid = cidOf(RAW, FILE);
    const liar = await serve({ [`/ipfs/${cid}`]: 'something else' });
    const broken = await serve({ [`/ipfs/${cid}`]: (_request, response) => response.writeHead(502).end() });
    const gone = await serve({});
    await gone.close();
    closers.pop();
    const honest = await serve({ [`/ipfs/${cid}`]: FILE });
    const document = await read(open({ ipfs: [liar.url, broken.url, gone.url, honest.url] }), `ipfs://${cid}`);
    expect(text(document)).toBe(FILE.toString());
    expect([liar.requests.length, broken.requests.length, honest.requests.length]).toEqual([1, 1, 1]);
  });

  test('behind a URL of any gateway comes from the own ones, else from that one', async () => {
    const cid = cidOf(RAW, FILE);
    const own = await serve({});
    const theirs = await serve({ [`/ipfs/${cid}`]: FILE });
    const document = await read(open({ ipfs: [own.url] }), `${theirs.url}/ipfs/${cid}`);
    expect([text(document), document.verified]).toEqual([FILE.toString(), true]);
    expect(own.requests).toHaveLength(1);
  });

  test('that no gateway has, or all lie about, fails by what they have in common', async () => {
    const cid = cidOf(RAW, FILE);
    const liar = await serve({ [`/ipfs/${cid}`]: 'something else' });
    const empty = await serve({});
    await expect(read(open({ ipfs: [liar.url, liar.url] }), `ipfs://${cid}`)).rejects.toMatchObject({
      code: 'DOCUMENT_CID_MISMATCH',
      retryable: true,
    });
    await expect(read(open({ ipfs: [liar.url, empty.url] }), `ipfs://${cid}`)).rejects.toMatchObject({
      code: 'DOCUMENT_GATEWAYS_FAILED',
      facts: { codes: ['DOCUMENT_CID_MISMATCH', 'DOCUMENT_HTTP_STATUS'] },
    });
  });
});

test('a document on Arweave comes from the gateways in order, through their redirects', async () => {
  const id = 'b'.repeat(43);
  const empty = await serve({});
  const gateway = await serve({
    [`/${id}/1.json`]: (_request, response) => response.writeHead(302, { location: '/sandbox' }).end(),
    '/sandbox': FILE,
  });
  expect(text(await read(open({ arweave: [empty.url, gateway.url] }), `ar://${id}/1.json`))).toBe(
    FILE.toString(),
  );
});

test('a document on the web is taken whatever its media type', async () => {
  const server = await serve({
    '/a': (_request, response) =>
      response.writeHead(200, { 'content-type': 'Text/HTML; charset=utf-8' }).end(FILE),
  });
  expect(await read(open({}), `${server.url}/a`)).toMatchObject({ mediaType: 'text/html', verified: null });
});

test('reading ends with the signal', async () => {
  const server = await serve({ '/slow': () => undefined });
  const ending = new AbortController();
  const reading = open({}).read(`${server.url}/slow`, ending.signal);
  ending.abort(new Error('the process ends'));
  await expect(reading).rejects.toThrow('the process ends');
});
