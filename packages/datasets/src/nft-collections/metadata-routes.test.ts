import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Chain } from '@chainstead/chains';
import { createChainRegistry } from '@chainstead/chains';
import { type Address, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { type ApiApp, type ApiServer, serveApi } from '@chainstead/http';
import { createJobs, type Jobs } from '@chainstead/jobs';
import { type ChainNode, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { EXAMPLE_KEY, exampleApi } from '../example-api.ts';
import { seedTrades } from '../nft-trades/seeded-trades.ts';
import {
  addressOf,
  type ExampleContract,
  exampleCollection,
  serveContracts,
  textOf,
  wordOf,
} from './example-contracts.ts';
import { type ExampleReading, startReading } from './example-reading.ts';
import { type ExampleServer, serveExample } from './example-server.ts';
import { metadataRoutes } from './metadata-routes.ts';

// The SDK's ES modules do not load under plain Node; its documentation requires it too.
const { default: Moralis }: { default: typeof import('moralis')['default'] } = createRequire(import.meta.url)(
  'moralis',
);

const CATS = addressOf(1);
const WAIT_MS = 3_000;
const PER_KEY = 3;
const eth = createChainRegistry().get('eth');

let scratch: ScratchDatabase;
let node: ChainNode & { readonly chainId: number };
let documents: ExampleServer;
let held: ServerResponse[] = [];
const contracts = new Map<Address, ExampleContract>();
let jobs: Jobs;
let worker: ExampleReading | null = null;

beforeAll(async () => {
  node = await serveContracts(contracts, eth.id);
  documents = await serveExample({
    '/document': '{"name":"Cats","image":"https://x.example/1.png","discord":"abc"}',
    '/held': (_, response) => void held.push(response),
  });
});
afterAll(async () => {
  await node.close();
  await documents.close();
});
beforeEach(async () => {
  scratch = await createScratchDatabase();
  jobs = await createJobs({ databaseUrl: scratch.url, logger: silentLogger(), metrics: createMetricsRegistry() });
  contracts.clear();
  held = [];
});
afterEach(async () => {
  await worker?.close();
  worker = null;
  await jobs.close();
  node.faults.clear();
  await scratch.drop();
});

async function startWorker(): Promise<void> {
  worker = await startReading({ database: scratch.database, home: { databaseUrl: scratch.url }, node });
}

function openApi(waitMs = WAIT_MS, chains: readonly Chain[] = [eth]): Promise<ApiApp> {
  return exampleApi(
    scratch.database,
    metadataRoutes({ jobs, chains, onDemand: { waitMs, perKey: PER_KEY }, clock: systemClock }),
  );
}

async function ask(api: ApiApp, path: string, method = 'GET') {
  const response = await api.request(`/api/v2.2/nft/${path}`, { method, headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: response.status, headers: response.headers, body: Object(await response.json()) };
}
const metadata = async (api: ApiApp, address: Address = CATS, query = '') => ask(api, `${address}/metadata${query}`);
const bytes = (address: Address): Buffer => Buffer.from(address.slice(2), 'hex');

const NOTHING_SAID = {
  collection_logo: null,
  collection_banner_image: null,
  collection_category: null,
  project_url: null,
  wiki_url: null,
  discord_url: null,
  telegram_url: null,
  twitter_username: null,
  instagram_username: null,
  base_uri: null,
};

/** As the sync engine leaves contracts whose events it has seen. */
const see = (address: Address, bits: number): Promise<unknown> =>
  scratch.database.query('INSERT INTO tokens (address, chain_id, seen_as, name) VALUES ($1, $2, $3, $4)', [
    bytes(address),
    eth.id,
    bits,
    'Seen',
  ]);

describe('metadata of a contract that nobody asked for yet', () => {
  test('is read while the request waits, then answered from the database', async () => {
    contracts.set(
      CATS,
      exampleCollection('erc721', { name: 'c', symbol: 'CAT', contractUri: `${documents.url}/document` }),
    );
    const api = await openApi();
    await startWorker();
    const first = await metadata(api);
    expect(first).toMatchObject({ status: 200 });
    expect(first.body).toEqual({
      token_address: CATS,
      name: 'Cats',
      synced_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      symbol: 'CAT',
      contract_type: 'ERC721',
      possible_spam: false,
      verified_collection: false,
      ...NOTHING_SAID,
      collection_logo: 'https://x.example/1.png',
      discord_url: 'https://discord.gg/abc',
    });
    const calls = node.counters.snapshot().calls;
    expect((await metadata(api, CATS.toUpperCase().replace('0X', '0x') as Address)).body).toEqual(first.body);
    expect(node.counters.snapshot().calls).toEqual(calls);
  });

  test('makes no node call by itself and starts one job, however many ask at once', async () => {
    const api = await openApi(200);
    const calls = node.counters.snapshot().calls;
    const answers = await Promise.all(Array.from({ length: 20 }, () => metadata(api)));
    for (const answer of answers) {
      expect(answer.status).toBe(404);
      expect(answer.body.message).toMatch(/not indexed on eth yet: indexing has started/);
      expect(answer.body.details).toEqual({ status: 'indexing' });
    }
    expect(node.counters.snapshot().calls).toEqual(calls);
    contracts.set(CATS, exampleCollection('erc721', { name: 'Cats' }));
    const before = node.counters.snapshot().calls.eth_getCode ?? 0;
    await startWorker();
    await vi.waitFor(async () => expect((await metadata(api)).status).toBe(200), { timeout: 10_000 });
    expect((node.counters.snapshot().calls.eth_getCode ?? 0) - before).toBe(1);
  });

  test('is answered with what is known when it takes longer and its events showed an NFT', async () => {
    await see(CATS, 4);
    const answer = await metadata(await openApi(50));
    expect(answer).toMatchObject({
      status: 200,
      body: { token_address: CATS, name: 'Seen', contract_type: 'ERC1155', synced_at: null, ...NOTHING_SAID },
    });
  });

  test('waits no longer than INDEX_WAIT_MS', async () => {
    contracts.set(CATS, exampleCollection('erc721', { contractUri: `${documents.url}/held` }));
    const api = await openApi(400);
    await startWorker();
    const started = performance.now();
    expect((await metadata(api)).status).toBe(404);
    const took = performance.now() - started;
    expect(took).toBeGreaterThanOrEqual(390);
    expect(took).toBeLessThan(2_000);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    held[0]?.end('{"name":"Late"}');
    await vi.waitFor(async () => expect((await metadata(api)).body).toMatchObject({ name: 'Late' }), {
      timeout: 5_000,
    });
  });

  test('is not waited for at all with INDEX_WAIT_MS 0', async () => {
    const started = performance.now();
    expect((await metadata(await openApi(0))).status).toBe(404);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  test.each([
    ['not a contract', undefined, 'is not a contract on eth', 'not-contract'],
    ['not an NFT', { '0x313ce567': wordOf(18n) }, 'is not an NFT contract on eth', 'not-nft'],
  ] as const)('that is %s is a 404 that says so, remembered for a while', async (_, contract, message, status) => {
    if (contract !== undefined) contracts.set(CATS, contract);
    const api = await openApi();
    await startWorker();
    const answer = await metadata(api);
    expect(answer).toMatchObject({ status: 404, body: { details: { status } } });
    expect(answer.body.message).toContain(message);
    // An NFT is deployed there: nobody notices until the refusal is over.
    contracts.set(CATS, exampleCollection('erc721', { name: 'Cats' }));
    const calls = node.counters.snapshot().calls;
    expect((await metadata(api)).status).toBe(404);
    expect(node.counters.snapshot().calls).toEqual(calls);
    await scratch.database.query('UPDATE nft_collections SET due_at = now()');
    expect(await metadata(api)).toMatchObject({ status: 200, body: { name: 'Cats' } });
  });

  test('that was refused is asked for again as soon as its events show an NFT', async () => {
    const api = await openApi();
    await startWorker();
    expect((await metadata(api)).status).toBe(404);
    await see(CATS, 2);
    contracts.set(CATS, { '0x06fdde03': textOf('Old Cats') });
    expect(await metadata(api)).toMatchObject({
      status: 200,
      body: { name: 'Old Cats', contract_type: 'ERC721', synced_at: expect.any(String) },
    });
  });

  test('whose nodes fail is a 404 that names no node, and is tried again by itself', async () => {
    contracts.set(CATS, exampleCollection('erc721', { name: 'Cats' }));
    const api = await openApi(10_000);
    await startWorker();
    node.faults.set({ methods: ['eth_call', 'eth_getCode'], httpStatus: { rate: 1, status: 503 } });
    const answer = await metadata(api);
    expect(answer).toMatchObject({ status: 404, body: { details: { status: 'failed' } } });
    expect(answer.body.message).toContain('tried again by itself');
    expect(answer.body.message).not.toContain('127.0.0.1');
    node.faults.clear();
    await vi.waitFor(
      async () => {
        await scratch.database.query(
          `UPDATE nft_collections SET due_at = now() - interval '1 minute' WHERE due_at > now()`,
        );
        expect((await metadata(api)).status).toBe(200);
      },
      { timeout: 20_000, interval: 500 },
    );
  });

  test('on a chain that no worker serves is a 404 that says so, and what is stored is answered', async () => {
    const api = await openApi(WAIT_MS, []);
    const unknown = await metadata(api);
    expect(unknown).toMatchObject({ status: 404, body: { details: { status: 'chain-not-configured' } } });
    expect(await scratch.database.query('SELECT FROM nft_collections')).toEqual([]);
    await see(CATS, 2);
    expect(await metadata(api)).toMatchObject({ status: 200, body: { name: 'Seen', synced_at: null } });
    expect((await ask(api, `${CATS}/sync`, 'PUT')).status).toBe(404);
  });

  test('is bounded by key', async () => {
    const api = await openApi(0);
    for (let index = 0; index < PER_KEY; index++)
      expect((await metadata(api, addressOf(100 + index))).status).toBe(404);
    const refused = await metadata(api, addressOf(200));
    expect(refused).toMatchObject({ status: 429, body: { details: { limit: PER_KEY } } });
    expect(refused.body.message).toMatch(/^3 contracts and tokens that this key has asked for wait/);
    expect(refused.headers.get('retry-after')).toBe('5');
    // What waits already is not one more.
    expect((await metadata(api, addressOf(100))).status).toBe(404);
    await startWorker();
    await vi.waitFor(async () => expect((await metadata(api, addressOf(200))).status).toBe(404), { timeout: 10_000 });
  });
});

describe('what is known', () => {
  async function know(columns: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const all = { token_address: bytes(CATS), chain_id: eth.id, status: 'known', synced_at: new Date(), ...columns };
    const names = Object.keys(all);
    await scratch.database.query(
      `INSERT INTO nft_collections (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
      Object.values(all),
    );
  }
  async function list(source: string, columns: Readonly<Record<string, unknown>>): Promise<void> {
    const all = { token_address: bytes(CATS), chain_id: eth.id, source, ...columns };
    const names = Object.keys(all);
    await scratch.database.query(
      `INSERT INTO collection_list_entries (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
      Object.values(all),
    );
  }

  test('comes from lists first, then the document and the contract, then the token', async () => {
    const api = await openApi(0);
    await see(CATS, 2);
    expect((await metadata(api)).body).toMatchObject({ name: 'Seen', symbol: null });
    await scratch.database.query('TRUNCATE nft_collections');
    await know({ name: 'Document', symbol: 'DOC', collection_logo: 'https://doc.example', contract_type: 'ERC721' });
    expect((await metadata(api)).body).toMatchObject({ name: 'Document', symbol: 'DOC', contract_type: 'ERC721' });
    await list('b', { name: 'B', wiki_url: 'https://b.example', verified: false });
    await list('a', { name: 'A', verified: true });
    expect((await metadata(api)).body).toMatchObject({
      name: 'A',
      symbol: 'DOC',
      collection_logo: 'https://doc.example',
      wiki_url: 'https://b.example',
      verified_collection: true,
      possible_spam: false,
    });
  });

  test('of a collection that only a list names is answered, and it is read', async () => {
    await list('a', { name: 'Listed', possible_spam: true });
    expect(await metadata(await openApi(0))).toMatchObject({
      status: 200,
      body: { name: 'Listed', contract_type: null, synced_at: null, possible_spam: true, verified_collection: false },
    });
    expect(await scratch.database.query('SELECT status FROM nft_collections')).toEqual([{ status: 'pending' }]);
  });

  test('is spam by a list of scams whatever else is said, by the rule only where no list knows better', async () => {
    const api = await openApi(0);
    await know();
    await scratch.database.query(
      'INSERT INTO tokens (address, chain_id, standard, possible_spam) VALUES ($1, $2, $3, true)',
      [bytes(CATS), eth.id, 'erc721'],
    );
    const isSpam = async (): Promise<boolean> => (await metadata(api)).body.possible_spam;
    expect(await isSpam()).toBe(true);
    await list('a', { verified: true });
    expect(await isSpam()).toBe(false);
    await scratch.database.query('INSERT INTO spam_list_entries (address, chain_id, source) VALUES ($1, 0, $2)', [
      bytes(CATS),
      'scams',
    ]);
    expect(await isSpam()).toBe(true);
  });

  test('carries prices that are not known as null, where they are asked for', async () => {
    await know();
    const api = await openApi(0);
    expect((await metadata(api)).body).not.toHaveProperty('floor_price');
    expect((await metadata(api, CATS, '?include_prices=true')).body).toMatchObject({
      floor_price: null,
      floor_price_usd: null,
      floor_price_currency: null,
      last_sale: null,
    });
  });

  test('carries the last sale where it is asked for and known', async () => {
    await know();
    const timestamp = Math.floor(Date.now() / 1_000) - 100 * 86_400;
    await seedTrades(scratch.database, eth, [
      { token: CATS, blockNumber: 1, timestamp: timestamp - 60, price: '5' },
      { token: CATS, blockNumber: 2, timestamp, price: '7000000000000000000' },
    ]);
    expect((await metadata(await openApi(0), CATS, '?include_prices=true')).body.last_sale).toMatchObject({
      token_address: CATS,
      price: '7000000000000000000',
      price_formatted: '7',
      payment_token: { token_symbol: 'ETH' },
    });
  });

  test('of another chain stays out', async () => {
    await know();
    const api = await openApi(0);
    expect((await metadata(api, CATS, '?chain=0x1')).status).toBe(200);
    expect((await metadata(api, CATS, '?chain=base')).status).toBe(404);
  });

  test.each([
    ['0x123/metadata', 'address'],
    [`${CATS}/metadata?chain=nonsense`, 'chain'],
    [`${CATS}/metadata?include_prices=maybe`, 'include_prices'],
    [`${CATS}/1/metadata/resync?mode=soon`, 'mode'],
    [`${CATS}/1/metadata/resync?flag=x`, 'flag'],
    [`${CATS}/-1/metadata/resync`, 'token_id'],
    [`${CATS}/${2n ** 256n}/metadata/resync`, 'token_id'],
  ])('%s is a 400 that names the parameter', async (path, parameter) => {
    const { status, body } = await ask(await openApi(0), path);
    expect(status).toBe(400);
    expect(body.message).toContain(parameter);
  });
});

describe('reading again', () => {
  test('a collection: 201 at once, what is known is served meanwhile', async () => {
    let name = 'Before';
    contracts.set(CATS, exampleCollection('erc721', { name: () => name }));
    const api = await openApi();
    await startWorker();
    expect((await metadata(api)).body).toMatchObject({ name: 'Before' });
    name = 'After';
    expect(await ask(api, `${CATS}/sync`, 'PUT')).toMatchObject({ status: 201, body: { status: 'SYNCING' } });
    expect((await metadata(api)).status).toBe(200);
    await vi.waitFor(async () => expect((await metadata(api)).body).toMatchObject({ name: 'After' }), {
      timeout: 10_000,
    });
  });

  test('a collection that nobody knows, and one that was refused', async () => {
    const api = await openApi();
    await startWorker();
    expect((await metadata(api)).status).toBe(404);
    contracts.set(CATS, exampleCollection('erc721', { name: 'Cats' }));
    expect((await ask(api, `${CATS}/sync?chain=eth`, 'PUT')).status).toBe(201);
    await vi.waitFor(async () => expect((await metadata(api)).status).toBe(200), { timeout: 10_000 });
  });

  test('a token, and waiting for it', async () => {
    let uri = 'data:application/json,{"name":"1"}';
    contracts.set(CATS, exampleCollection('erc721', {}, { [`0xc87b56dd${wordOf(1n).slice(2)}`]: () => textOf(uri) }));
    const api = await openApi();
    await startWorker();
    const resync = async (query = '?mode=sync', id = '1') => ask(api, `${CATS}/${id}/metadata/resync${query}`);
    const stored = async () =>
      scratch.database.query('SELECT metadata, token_uri FROM nft_token_metadata WHERE token_id = 1');
    expect(await resync()).toMatchObject({ status: 200, body: { status: 'SYNCED' } });
    expect(await stored()).toEqual([{ metadata: '{"name":"1"}', token_uri: uri }]);
    // The document from where it was, not from where it is.
    uri = 'data:application/json,{"name":"2"}';
    expect((await resync('?mode=sync&flag=metadata')).status).toBe(200);
    expect(await stored()).toMatchObject([{ metadata: '{"name":"1"}' }]);
    expect(await resync('')).toMatchObject({ status: 202, body: { status: 'SYNCING' } });
    await vi.waitFor(async () => expect(await stored()).toMatchObject([{ metadata: '{"name":"2"}' }]), {
      timeout: 10_000,
    });
    uri = 'data:application/json,nonsense';
    expect(await resync()).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('could not be read') },
    });
    expect(await stored()).toMatchObject([{ metadata: '{"name":"2"}' }]);
    expect(await resync('?mode=sync', '0x2')).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('names no metadata for token 2') },
    });
  });

  test('traits are the documents of the tokens that are known, as many as the key may leave waiting', async () => {
    const api = await openApi();
    await scratch.database.query(
      `INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status) SELECT $1, $2, id, 'known' FROM generate_series(1, 5) AS id`,
      [bytes(CATS), eth.id],
    );
    const resync = () => ask(api, `${CATS}/traits/resync`);
    expect(await resync()).toMatchObject({ status: 202, body: { message: 'The metadata of 3 tokens is read again' } });
    expect(await scratch.database.query('SELECT token_id FROM nft_token_metadata WHERE due_at <= now()')).toHaveLength(
      3,
    );
    expect((await resync()).status).toBe(429);
  });
});

describe('the official SDK', () => {
  let server: ApiServer;
  beforeEach(async () => {
    server = await serveApi(await openApi(), { host: '127.0.0.1', port: 0 });
    return () => server.close();
  });

  test('reads metadata, and null where there is none', async () => {
    contracts.set(
      CATS,
      exampleCollection('erc1155', { name: 'Cats', symbol: 'CAT', contractUri: `${documents.url}/document` }),
    );
    await startWorker();
    await Moralis.start({ apiKey: EXAMPLE_KEY, evmApiBaseUrl: `${server.url}/api/v2.2` });
    const found = await Moralis.EvmApi.nft.getNFTContractMetadata({ address: CATS, chain: '0x1' });
    expect(found?.result.toJSON()).toMatchObject({
      tokenAddress: CATS,
      name: 'Cats',
      symbol: 'CAT',
      contractType: 'ERC1155',
      collectionLogo: 'https://x.example/1.png',
      possibleSpam: false,
    });
    expect(found?.result.syncedAt).toBeInstanceOf(Date);
    expect(await Moralis.EvmApi.nft.getNFTContractMetadata({ address: addressOf(9), chain: '0x1' })).toBeNull();
  });
});

test('is documented from the schemas that check it', async () => {
  const document = Object(await (await (await openApi(0)).request('/openapi.json')).json());
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(Object(methods)).map(
      ([method, operation]) => `${method} ${path} ${Object.keys(Object(operation).responses)}`,
    ),
  );
  expect(operations).toEqual(
    expect.arrayContaining([
      'get /api/v2.2/nft/{address}/metadata 200,400,401,404,429,500,503',
      'put /api/v2.2/nft/{address}/sync 201,400,401,404,429,500,503',
      'get /api/v2.2/nft/{address}/{token_id}/metadata/resync 200,202,400,401,404,429,500,503',
      'get /api/v2.2/nft/{address}/traits/resync 202,400,401,404,429,500,503',
    ]),
  );
});
