import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { type ChainNode, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  addressOf,
  type ExampleContract,
  exampleCollection,
  serveContracts,
  wordOf,
} from './testing/example-contracts.ts';
import {
  type CollectionRow,
  type ExampleReading,
  requestFor,
  rowOf,
  startReading,
} from './testing/example-reading.ts';
import { type ExampleServer, serveExample } from './testing/example-server.ts';

const soon = { timeout: 15_000, interval: 30 };
const DOWN = { methods: ['eth_call', 'eth_getCode'], httpStatus: { rate: 1, status: 503 } };

describe('the metadata of collections', () => {
  let scratch: ScratchDatabase;
  let node: ChainNode & { readonly chainId: number };
  let documents: ExampleServer;
  let readings: ExampleReading[] = [];
  /** Requests without a response until a test sends one. */
  let held: ServerResponse[] = [];
  let documentText = '{}';
  const contracts = new Map<Address, ExampleContract>();

  beforeAll(async () => {
    node = await serveContracts(contracts);
    documents = await serveExample({
      '/document': (_, response) => response.end(documentText),
      '/held': (_, response) => void held.push(response),
      '/failing': (_, response) => response.writeHead(503).end(),
    });
  });
  afterAll(async () => {
    await node.close();
    await documents.close();
  });
  beforeEach(async () => {
    scratch = await createScratchDatabase();
    contracts.clear();
    held = [];
  });
  afterEach(async () => {
    await Promise.all(readings.map((reading) => reading.close()));
    readings = [];
    node.faults.clear();
    await scratch.drop();
  });

  async function start(options: Partial<Parameters<typeof startReading>[0]> = {}): Promise<ExampleReading> {
    const reading = await startReading({ database: scratch.database, node, ...options });
    readings.push(reading);
    return reading;
  }
  const row = async (address: Address): Promise<CollectionRow | undefined> => rowOf(scratch.database, address);
  const settled = (address: Address, expected: Partial<Record<keyof CollectionRow, unknown>>): Promise<void> =>
    vi.waitFor(async () => expect(await row(address)).toMatchObject(expected), soon);
  const makeDue = (): Promise<unknown> => scratch.database.query(sql`UPDATE nft_collections SET due_at = now()`);

  test('a collection is read whole: contract, document, and the token for all lists', async () => {
    const cats = addressOf(1);
    documentText = JSON.stringify({ name: 'Cats (document)', image: 'ipfs://x/logo.png', twitter: '@cats' });
    contracts.set(
      cats,
      exampleCollection('erc721', {
        name: 'Claim your reward at cats.example/now',
        symbol: 'CAT',
        baseUri: 'https://cats.example/',
        contractUri: `${documents.url}/document`,
      }),
    );
    const found: unknown[] = [];
    await requestFor(scratch.database, node.chainId, cats);
    const { metrics } = await start({
      async onCollection(chain, address, requestedBy) {
        found.push([chain.key, address, requestedBy]);
      },
    });
    await settled(cats, { synced: true });
    expect(await row(cats)).toEqual({
      status: 'known',
      name: 'Cats (document)',
      symbol: 'CAT',
      baseUri: 'https://cats.example/',
      contractType: 'ERC721',
      collectionLogo: 'ipfs://x/logo.png',
      errorCode: null,
      attempts: 0,
      dueIn: null,
      requestedBy: null,
      synced: true,
    });
    expect(
      await scratch.database.query(sql`SELECT standard, name, symbol, facts_status, possible_spam FROM tokens`),
    ).toEqual([
      {
        standard: 'erc721',
        name: 'Claim your reward at cats.example/now',
        symbol: 'CAT',
        factsStatus: 'known',
        possibleSpam: true,
      },
    ]);
    await vi.waitFor(() => expect(found).toEqual([['eth', cats, 'test']]), soon);
    expect(await metrics.metrics()).toMatch(
      /nft_metadata_readings_total\{chain="eth",kind="collection",outcome="known"\} 1/,
    );
  });

  test('what is no contract or no NFT is refused for a while', async () => {
    const [nobody, token] = [addressOf(1), addressOf(2)];
    contracts.set(token, {
      '0x06fdde03': wordOf(1n),
      '0x313ce567': wordOf(18n),
      [`0x70a08231${wordOf(1n).slice(2)}`]: wordOf(5n),
    });
    await requestFor(scratch.database, node.chainId, nobody, token);
    await start();
    await settled(nobody, { status: 'not-contract', requestedBy: null, synced: false });
    await settled(token, { status: 'not-nft', contractType: null });
    for (const address of [nobody, token]) {
      expect((await row(address))?.dueIn).toBeGreaterThan(500);
      expect((await row(address))?.dueIn).toBeLessThanOrEqual(600);
    }
    // After the refusal expires, only a request reads it again. A day later it is deleted.
    const calls = node.counters.snapshot().calls.eth_getCode;
    await makeDue();
    await vi.waitFor(async () => expect((await row(nobody))?.dueIn).toBeLessThan(-1.5), soon);
    expect(node.counters.snapshot().calls.eth_getCode).toBe(calls);
    await scratch.database.query(sql`UPDATE nft_collections SET due_at = now() - interval '2 days'`);
    await vi.waitFor(async () => expect(await row(nobody)).toBeUndefined(), soon);
  });

  test('a document that fails leaves what is known, is tried again later, and heals', async () => {
    const cats = addressOf(1);
    let uri = `${documents.url}/failing`;
    documentText = '{"name":"Cats","image":"https://x.example/1.png"}';
    contracts.set(cats, exampleCollection('erc721', { name: 'cats', contractUri: () => uri }));
    await requestFor(scratch.database, node.chainId, cats);
    await start();
    await settled(cats, {
      status: 'known',
      name: 'cats',
      errorCode: 'DOCUMENT_HTTP_STATUS',
      attempts: 1,
      synced: true,
    });
    expect((await row(cats))?.dueIn).toBeGreaterThan(50);
    await makeDue();
    await settled(cats, { attempts: 2, errorCode: 'DOCUMENT_HTTP_STATUS' });
    await vi.waitFor(async () => expect((await row(cats))?.dueIn).toBeGreaterThan(110), soon);
    uri = `${documents.url}/document`;
    await makeDue();
    await settled(cats, {
      name: 'Cats',
      collectionLogo: 'https://x.example/1.png',
      errorCode: null,
      attempts: 0,
      dueIn: null,
    });
    uri = 'javascript:alert(1)';
    await makeDue();
    await settled(cats, {
      name: 'Cats',
      collectionLogo: 'https://x.example/1.png',
      errorCode: 'DOCUMENT_URI_UNSUPPORTED',
    });
    expect((await row(cats))?.dueIn).toBeGreaterThan(80_000);
    uri = '';
    await makeDue();
    await settled(cats, { name: 'cats', collectionLogo: null, errorCode: null, dueIn: null });
  });

  test('nodes that fail are asked again, each time later, and what was known stays', async () => {
    const cats = addressOf(1);
    contracts.set(cats, exampleCollection('erc721', { name: 'Cats' }));
    const { metrics } = await start();
    node.faults.set(DOWN);
    await requestFor(scratch.database, node.chainId, cats);
    await settled(cats, { status: 'failed', errorCode: 'UPSTREAMS_EXHAUSTED', attempts: 1, requestedBy: null });
    expect((await row(cats))?.dueIn).toBeGreaterThan(5);
    expect(await metrics.metrics()).toMatch(/outcome="failed"\} 1/);
    node.faults.clear();
    await makeDue();
    await settled(cats, { status: 'known', name: 'Cats', errorCode: null, attempts: 0 });
    node.faults.set(DOWN);
    await makeDue();
    await settled(cats, { status: 'known', name: 'Cats', errorCode: 'UPSTREAMS_EXHAUSTED' });
  });

  test('what is asked for again while it is read is read again', async () => {
    const cats = addressOf(1);
    let uri = `${documents.url}/held`;
    contracts.set(cats, exampleCollection('erc721', { contractUri: () => uri }));
    await requestFor(scratch.database, node.chainId, cats);
    await start();
    await vi.waitFor(() => expect(held).toHaveLength(1), soon);
    documentText = '{"name":"new"}';
    uri = `${documents.url}/document`;
    await makeDue();
    held[0]?.end('{"name":"old"}');
    await settled(cats, { name: 'new', dueIn: null });
  });

  test('a worker that ends gives back what it had taken, and the next one reads it', async () => {
    const cats = addressOf(1);
    let uri = `${documents.url}/held`;
    contracts.set(cats, exampleCollection('erc721', { name: 'Cats', contractUri: () => uri }));
    await requestFor(scratch.database, node.chainId, cats);
    const first = await start();
    await vi.waitFor(() => expect(held).toHaveLength(1), soon);
    readings = [];
    await first.work.close(50);
    expect(await row(cats)).toMatchObject({ status: 'pending', attempts: 0, requestedBy: 'test' });
    expect((await row(cats))?.dueIn).toBeLessThanOrEqual(0);
    uri = `${documents.url}/document`;
    documentText = '{}';
    await start();
    await settled(cats, { status: 'known', name: 'Cats' });
    await first.close();
  });

  test('a worker that is killed half-way loses nothing', async () => {
    const addresses = Array.from({ length: 20 }, (_, index) => addressOf(index));
    let uri = `${documents.url}/held`;
    for (const [index, address] of addresses.entries())
      contracts.set(address, exampleCollection('erc721', { name: `N${index}`, contractUri: () => uri }));
    await requestFor(scratch.database, node.chainId, ...addresses);
    const program = `
      import { openDatabase } from '@chainstead/db/server';
      import { silentLogger } from '@chainstead/core';
      import { startReading } from './collections/testing/example-reading.ts';
      const database = openDatabase(${JSON.stringify({ url: scratch.url, applicationName: 'killed', poolSize: 4 })});
      await startReading({ database, node: ${JSON.stringify({ url: node.url, chainId: node.chainId })} });
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await vi.waitFor(() => expect(held.length).toBeGreaterThan(10), soon);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const leased = await scratch.database.query<{ most: number }>(
      sql`SELECT max(extract(epoch FROM lease_until - now()))::float8 AS most FROM nft_collections WHERE status = 'pending'`,
    );
    expect(leased[0]?.most).toBeGreaterThan(0);
    expect(leased[0]?.most).toBeLessThanOrEqual(60);
    uri = `${documents.url}/document`;
    documentText = '{}';
    // As if the leases had expired.
    await scratch.database.query(sql`UPDATE nft_collections SET lease_until = now()`);
    await start();
    for (const [index, address] of addresses.entries())
      await settled(address, { status: 'known', name: `N${index}` });
  }, 60_000);

  test('what no notification told of is found by its row', async () => {
    const cats = addressOf(1);
    contracts.set(cats, exampleCollection('erc1155', { name: 'Cats' }));
    await start();
    await requestFor(scratch.database, node.chainId, cats);
    await settled(cats, { status: 'known', contractType: 'ERC1155' });
  });

  test('what a program error ends is visible and tried again', async () => {
    const cats = addressOf(1);
    contracts.set(cats, exampleCollection('erc721', { name: 'Cats' }));
    await scratch.database.query(
      sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON tokens FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
    await requestFor(scratch.database, node.chainId, cats);
    await start();
    await settled(cats, { status: 'failed', errorCode: 'UNEXPECTED', attempts: 1 });
    expect((await row(cats))?.dueIn).toBeGreaterThan(5);
  });
});
