import { createChainRegistry } from '@chainstead/chains';
import { type Address, createMetricsRegistry, silentLogger } from '@chainstead/core';
import type { ApiApp } from '@chainstead/http';
import { createJobs, type Jobs } from '@chainstead/jobs';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import type { z } from '@hono/zod-openapi';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EXAMPLE_KEY, exampleApi } from '../example-api.ts';
import { createHistories } from '../histories/histories.ts';
import { nftTransfers } from '../nft-transfers/dataset.ts';
import { addressBytes } from '../statement.ts';
import { contractOf, seedHoldings, seedNftCoverage, seedRow, seedWalletRange } from './seeded-holdings.ts';
import { walletCollectionsSchema } from './wallet-collections-response.ts';
import { createWalletCollectionsRoute } from './wallet-collections-route.ts';

const registry = createChainRegistry();
const eth = registry.get('eth');
const base = registry.get('base');
const WALLET = contractOf(0xa11ce);
const [A, B, C] = [contractOf(0xaa), contractOf(0xbb), contractOf(0xcc)];

let scratch: ScratchDatabase;
let jobs: Jobs;
let api: ApiApp;
/** Where histories are turned off. */
let withoutHistories: ApiApp;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  jobs = await createJobs({ databaseUrl: scratch.url, logger: silentLogger(), metrics: createMetricsRegistry() });
  const shared = { jobs, datasets: [nftTransfers], perKey: 2 };
  const histories = createHistories({ ...shared, chains: [eth], maxCalls: 500 });
  api = await exampleApi(scratch.database, [createWalletCollectionsRoute({ histories, chains: [eth] })]);
  const off = createHistories({ ...shared, chains: [base], maxCalls: 0 });
  withoutHistories = await exampleApi(scratch.database, [
    createWalletCollectionsRoute({ histories: off, chains: [base] }),
  ]);
});
afterAll(async () => {
  await jobs.close();
  await scratch.drop();
});
beforeEach(() =>
  scratch.database
    .query(
      `TRUNCATE nft_holdings, sync_ranges, subject_ranges, subject_histories, tokens, nft_collections, collection_list_entries,
         spam_list_entries`,
    )
    .then(() => undefined),
);

type Answer = z.infer<typeof walletCollectionsSchema>;

const request = (query = '', wallet: string = WALLET, app = api) =>
  app.request(`/api/v2.2/${wallet}/nft/collections${query}`, { headers: { 'x-api-key': EXAMPLE_KEY } });

async function get(query = '', wallet: string = WALLET, app = api): Promise<Answer> {
  const answer = await request(query, wallet, app);
  const body = await answer.json();
  expect([answer.status, body]).toEqual([200, expect.anything()]);
  return walletCollectionsSchema.strict().parse(body);
}

const addressesOf = ({ result }: Answer): string[] => result.map((row) => row.token_address);
const histories = () =>
  scratch.database.query<{ kind: string; status: string; subject: Buffer; requested_by: string | null }>(
    'SELECT kind, status, subject, requested_by FROM subject_histories ORDER BY subject',
  );

async function hold(...contracts: readonly Address[]): Promise<void> {
  await seedHoldings(
    scratch.database,
    eth,
    WALLET,
    contracts.map((contract, index) => ({ contract, ids: index + 1 })),
  );
}

async function setHistory(columns: Readonly<Record<string, unknown>>): Promise<void> {
  const names = Object.keys(columns);
  await scratch.database.query(
    `UPDATE subject_histories SET ${names.map((name, index) => `${name} = $${index + 1}`).join(', ')}`,
    Object.values(columns),
  );
}

describe('a collection', () => {
  test('is shown with every field', async () => {
    await seedNftCoverage(scratch.database, eth, 0, 100);
    await hold(A);
    await seedRow(scratch.database, 'tokens', {
      address: addressBytes(A),
      chain_id: 1,
      standard: 'erc1155',
      seen_as: 2,
      name: 'Cats',
      symbol: 'CAT',
    });
    expect(await get()).toEqual({
      status: 'SYNCED',
      page: 1,
      page_size: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: '100', complete: true },
      result: [
        {
          token_address: A,
          contract_type: 'ERC1155',
          name: 'Cats',
          symbol: 'CAT',
          possible_spam: false,
          verified_collection: false,
          collection_logo: null,
          collection_banner_image: null,
        },
      ],
    });
  });

  test.each([
    ['the answer to ERC-165', { standard: 'erc721', seen_as: 4 }, 'ERC721'],
    ['the events of ERC-721', { standard: null, seen_as: 6 }, 'ERC721'],
    ['the events of ERC-1155', { standard: null, seen_as: 4 }, 'ERC1155'],
    ['its events where it claims to be an ERC-20', { standard: 'erc20', seen_as: 5 }, 'ERC1155'],
    ['nothing yet', { standard: null, seen_as: 0 }, null],
  ])('has its type from %s', async (_what, columns, type) => {
    await hold(A);
    await seedRow(scratch.database, 'tokens', { address: addressBytes(A), chain_id: 1, ...columns });
    expect((await get()).result[0]?.contract_type).toBe(type);
  });

  test('shows what a list says before what the contract says, and that before the token’s facts', async () => {
    await hold(A);
    const key = { token_address: addressBytes(A), chain_id: 1 };
    await seedRow(scratch.database, 'tokens', { address: addressBytes(A), chain_id: 1, name: 'Token', symbol: 'TOK' });
    await seedRow(scratch.database, 'nft_collections', {
      ...key,
      name: 'Own',
      collection_logo: 'ipfs://own',
      collection_banner_image: 'ipfs://banner',
    });
    await seedRow(scratch.database, 'collection_list_entries', {
      ...key,
      source: 'b',
      name: 'Second',
      collection_logo: 'https://b',
    });
    await seedRow(scratch.database, 'collection_list_entries', { ...key, source: 'a', name: 'First', verified: true });
    expect((await get()).result[0]).toMatchObject({
      name: 'First',
      symbol: 'TOK',
      collection_logo: 'https://b',
      collection_banner_image: 'ipfs://banner',
      verified_collection: true,
    });
  });

  test('has a count of different ids, and prices, only where they are asked for', async () => {
    await hold(A, B);
    expect((await get('?token_counts=true')).result.map(({ count }) => count)).toEqual([1, 2]);
    expect((await get('?token_counts=TRUE&include_prices=true')).result[0]).toMatchObject({
      count: 1,
      floor_price: null,
      floor_price_usd: null,
      floor_price_currency: null,
      last_sale: null,
    });
    const plain = (await get('?token_counts=false')).result[0];
    expect(plain).not.toHaveProperty('count');
    expect(plain).not.toHaveProperty('floor_price');
  });

  test('of another wallet or chain is not shown', async () => {
    await hold(A);
    await seedHoldings(scratch.database, base, WALLET, [{ contract: B, ids: 1 }]);
    await seedHoldings(scratch.database, eth, C, [{ contract: C, ids: 1 }]);
    expect(addressesOf(await get())).toEqual([A]);
    expect(addressesOf(await get('?chain=0x2105'))).toEqual([B]);
    expect(addressesOf(await get('', WALLET.toUpperCase().replace('0X', '0x')))).toEqual([A]);
  });
});

describe('spam', () => {
  beforeEach(async () => {
    await hold(A, B, C);
    const facts = (contract: Address, more: object) => ({ address: addressBytes(contract), chain_id: 1, ...more });
    await seedRow(scratch.database, 'tokens', facts(A, { possible_spam: true }));
    await seedRow(scratch.database, 'tokens', facts(B, { possible_spam: true }));
    await seedRow(scratch.database, 'collection_list_entries', {
      token_address: addressBytes(B),
      chain_id: 1,
      source: 'a',
      possible_spam: false,
    });
  });

  test('is told by the token’s facts, unless a list knows better; a list of scams always counts', async () => {
    expect((await get()).result.map((row) => row.possible_spam)).toEqual([true, false, false]);
    await seedRow(scratch.database, 'spam_list_entries', { address: addressBytes(B), chain_id: 0, source: 'scams' });
    expect((await get()).result.map((row) => row.possible_spam)).toEqual([true, true, false]);
  });

  test('is left out where that is asked for, and pages stay full', async () => {
    expect(addressesOf(await get('?exclude_spam=true'))).toEqual([B, C]);
    const first = await get('?exclude_spam=true&limit=1');
    expect(addressesOf(first)).toEqual([B]);
    const second = await get(`?cursor=${first.cursor}`);
    expect([addressesOf(second), second.cursor, second.page]).toEqual([[C], null, 2]);
  });
});

describe('metadata', () => {
  const queued = () =>
    scratch.database
      .query<{ address: string; due: boolean; requested_by: string | null }>(
        `SELECT '0x' || encode(token_address, 'hex') AS address, due_at <= now() AS due, requested_by FROM nft_collections ORDER BY 1`,
      )
      .then((rows) => rows.map(({ address, due, requested_by }) => [address, due, requested_by]));

  test('of collections that nobody asked for is left to the worker, once and in nobody’s name; spam is not', async () => {
    await hold(A, B, C);
    await seedRow(scratch.database, 'tokens', { address: addressBytes(B), chain_id: 1, possible_spam: true });
    await seedRow(scratch.database, 'nft_collections', {
      token_address: addressBytes(C),
      chain_id: 1,
      status: 'known',
    });
    await Promise.all([get(), get(), get()]);
    expect(await queued()).toEqual([
      [A, true, null],
      [C, null, null],
    ]);
  });

  test('is asked for in bounds, and not where no worker serves the chain', async () => {
    await hold(...Array.from({ length: 60 }, (_, index) => contractOf(1_000 + index)));
    await get();
    expect(await queued()).toHaveLength(20);
    await scratch.database.query(
      `INSERT INTO nft_collections (token_address, chain_id, due_at)
       SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), 10, now() FROM generate_series(1, 480) AS number`,
    );
    await get();
    expect(await queued()).toHaveLength(500);
    await scratch.database.query('TRUNCATE nft_collections');
    await get('', WALLET, withoutHistories);
    expect(await queued()).toEqual([]);
  });
});

describe('pages', () => {
  test('follow each other by contract without gaps, whatever changes before or behind', async () => {
    await hold(...Array.from({ length: 7 }, (_, index) => contractOf(10 + index * 10)));
    const first = await get('?limit=3&token_counts=true');
    expect([addressesOf(first), first.page, first.page_size]).toEqual([
      [contractOf(10), contractOf(20), contractOf(30)],
      1,
      3,
    ]);
    await scratch.database.query('DELETE FROM nft_holdings WHERE token_address = ANY ($1::bytea[])', [
      [contractOf(20), contractOf(50)].map(addressBytes),
    ]);
    await hold(contractOf(5), contractOf(35));
    const second = await get(`?cursor=${first.cursor}`);
    expect([addressesOf(second), second.page, second.page_size]).toEqual([
      [contractOf(35), contractOf(40), contractOf(60)],
      2,
      3,
    ]);
    expect(second.result[0]).toHaveProperty('count');
    const third = await get(`?cursor=${second.cursor}&limit=100`);
    expect([addressesOf(third), third.cursor, third.page_size]).toEqual([[contractOf(70)], null, 3]);
  });

  test('hold at most what the server allows, and say so', async () => {
    expect((await get('?limit=5000')).page_size).toBe(100);
  });
});

describe('bad input', () => {
  test.each([
    ['limit=0', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=all', 'limit'],
    ['limit=', 'limit'],
    ['chain=nowhere', 'chain'],
    ['chain=0xzz', 'chain'],
    ['token_counts=yes', 'token_counts'],
    ['token_counts=1', 'token_counts'],
    ['exclude_spam=', 'exclude_spam'],
    ['include_prices=maybe', 'include_prices'],
    ['cursor=abc', 'cursor'],
    [`cursor=${'a'.repeat(9_000)}`, 'cursor'],
    ['limit=1&limit=2', 'limit'],
    ['chain=eth&chain=base', 'chain'],
  ])('%s is refused and named', async (query, parameter) => {
    const answer = await request(`?${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining(parameter) });
  });

  test.each(['0x123', 'vitalik.eth', `0x${'g'.repeat(40)}`, `0x${'0'.repeat(41)}`])(
    'the wallet %s is refused',
    async (wallet) => {
      expect((await request('', wallet)).status).toBe(400);
    },
  );

  test('a cursor goes with its own query only', async () => {
    await hold(A, B);
    const { cursor } = await get('?limit=1');
    for (const query of [
      `cursor=${cursor}&token_counts=true`,
      `cursor=${cursor}&exclude_spam=true`,
      `cursor=${cursor}&chain=base`,
    ]) {
      const answer = await request(`?${query}`);
      expect(answer.status).toBe(400);
    }
    expect((await request(`?cursor=${cursor}`, C)).status).toBe(400);
    expect((await request(`?cursor=${cursor}x`)).status).toBe(400);
    expect(addressesOf(await get(`?cursor=${cursor}&chain=eth&exclude_spam=false`))).toEqual([B]);
    expect(await histories()).toHaveLength(1);
  });
});

describe('status', () => {
  test.each<
    [string, readonly (readonly [number, number])[], readonly (readonly [number, number])[], string, string | null]
  >([
    ['the chain covers all', [[0, 100]], [], 'SYNCED', '0'],
    ['the chain begins later', [[1, 100]], [], 'SYNCING', '1'],
    ['the wallet’s history joins the chain', [[50, 100]], [[0, 49]], 'SYNCED', '0'],
    ['the wallet’s history overlaps the chain', [[50, 100]], [[0, 70]], 'SYNCED', '0'],
    [
      'the wallet’s history contains what the chain covers',
      [
        [30, 40],
        [90, 100],
      ],
      [[0, 95]],
      'SYNCED',
      '0',
    ],
    ['a block is missing between them', [[50, 100]], [[0, 48]], 'SYNCING', '50'],
    [
      'a block is missing in the chain',
      [
        [0, 60],
        [62, 100],
      ],
      [[0, 30]],
      'SYNCING',
      '62',
    ],
    [
      'the wallet fills the chain’s gaps',
      [
        [10, 20],
        [40, 100],
      ],
      [
        [0, 9],
        [21, 39],
      ],
      'SYNCED',
      '0',
    ],
    ['only the wallet is covered', [], [[0, 100]], 'SYNCING', '0'],
    ['nothing is covered', [], [], 'SYNCING', null],
  ])('where %s', async (_what, chainRanges, walletRanges, status, from) => {
    for (const [first, last] of chainRanges) await seedNftCoverage(scratch.database, eth, first, last);
    for (const [first, last] of walletRanges) await seedWalletRange(scratch.database, eth, WALLET, first, last);
    await seedWalletRange(scratch.database, eth, contractOf(7), 0, 100);
    const answer = await get();
    expect([answer.status, answer.indexed.from_block, answer.indexed.complete]).toEqual([
      status,
      from,
      status === 'SYNCED',
    ]);
    expect(await histories()).toHaveLength(status === 'SYNCED' ? 0 : 1);
  });

  test('the first of many requests has the history read, in the name of its key', async () => {
    await seedNftCoverage(scratch.database, eth, 50, 100);
    const answers = await Promise.all(Array.from({ length: 8 }, () => get()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['SYNCING']));
    expect(
      answers.filter(({ status_message }) => status_message === 'Reading the history of this wallet has begun'),
    ).toHaveLength(1);
    expect(await histories()).toEqual([
      { kind: 'wallet', status: 'pending', subject: addressBytes(WALLET), requested_by: 'config:1' },
    ]);
  });

  test('says how far the reading is', async () => {
    await get();
    expect((await get()).status_message).toBe('The history of this wallet is being read');
    await setHistory({ status: 'running', calls_estimated: 40, calls_made: 12 });
    expect((await get()).status_message).toBe(
      'The history of this wallet is being read: 12 of about 40 node calls made',
    );
    await setHistory({ status: 'pending', due_at: new Date(Date.now() + 9_000) });
    expect((await get()).status_message).toMatch(/can still be reorganised/);
    await setHistory({ status: 'failed', error_code: 'UPSTREAMS_EXHAUSTED', error_message: 'https://secret.example' });
    expect((await get()).status_message).toBe('Reading the history of this wallet has failed and will be tried again');
  });

  test('of a refused history says what it would take', async () => {
    await get();
    const message = 'It would take about 12000 node calls; ON_DEMAND_MAX_CALLS allows 500';
    await setHistory({ status: 'refused', calls_estimated: 12_000, error_message: message });
    const answer = await get();
    expect([answer.status, answer.status_message]).toEqual([
      'SYNCING',
      `The history of this wallet is not read. ${message}`,
    ]);
    expect(await histories()).toMatchObject([{ status: 'refused' }]);
  });

  test('begins a finished history again where blocks are missing since', async () => {
    await get();
    await setHistory({ status: 'done' });
    expect((await get()).status_message).toMatch(/can still be reorganised/);
    await setHistory({ updated_at: new Date(Date.now() - 60_000) });
    expect((await get()).status_message).toBe('Reading the history of this wallet has begun');
    expect(await histories()).toMatchObject([{ status: 'pending' }]);
  });

  test('of more wallets than a key may have waiting says so, and queues no more', async () => {
    for (const wallet of [A, B]) await get('', wallet);
    const answer = await get('', C);
    expect([answer.status, answer.status_message]).toEqual([
      'SYNCING',
      expect.stringContaining('As many histories as this key may have'),
    ]);
    expect(await histories()).toHaveLength(2);
  });

  test('of a chain that is not served, or where histories are off, queues nothing', async () => {
    expect((await get('?chain=base')).status_message).toBe('This server does not index Base');
    expect((await get('?chain=base', WALLET, withoutHistories)).status_message).toMatch(/turned off here/);
    expect(await histories()).toEqual([]);
  });
});
