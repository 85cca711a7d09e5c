import type { Address } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { ether, sale } from '../sale-prices/testing/requested-prices.ts';
import { BUYER, COLLECTION, SELLER, seedTrades } from '../trades/testing/seeded-trades.ts';
import {
  addressesOf,
  base,
  type CollectionsStage,
  eth,
  openCollectionsStage,
  WALLET,
} from './testing/collections-stage.ts';
import { contractOf, seedHoldings, seedNftCoverage, seedRow } from './testing/seeded-holdings.ts';

const [A, B, C] = [contractOf(0xaa), contractOf(0xbb), contractOf(0xcc)];

const stage = stageOfFile(openCollectionsStage);
beforeEach(() => stage.empty());

const get: CollectionsStage['get'] = (...given) => stage.get(...given);
const hold: CollectionsStage['hold'] = (...contracts) => stage.hold(...contracts);

describe('a collection', () => {
  test('is shown with every field', async () => {
    await seedNftCoverage(stage.scratch.database, eth, 0, 100);
    await hold(A);
    await seedRow(stage.scratch.database, 'tokens', {
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
    await seedRow(stage.scratch.database, 'tokens', { address: addressBytes(A), chain_id: 1, ...columns });
    expect((await get()).result[0]?.contract_type).toBe(type);
  });

  test('shows what a list says before what the contract says, and that before the token’s metadata', async () => {
    await hold(A);
    const key = { token_address: addressBytes(A), chain_id: 1 };
    await seedRow(stage.scratch.database, 'tokens', {
      address: addressBytes(A),
      chain_id: 1,
      name: 'Token',
      symbol: 'TOK',
    });
    await seedRow(stage.scratch.database, 'nft_collections', {
      ...key,
      name: 'Own',
      collection_logo: 'ipfs://own',
      collection_banner_image: 'ipfs://banner',
    });
    await seedRow(stage.scratch.database, 'collection_list_entries', {
      ...key,
      source: 'b',
      name: 'Second',
      collection_logo: 'https://b',
    });
    await seedRow(stage.scratch.database, 'collection_list_entries', {
      ...key,
      source: 'a',
      name: 'First',
      verified: true,
    });
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

  test('has its last sale where prices are asked for, as its own price route shows it', async () => {
    const other = Array.from({ length: 9 }, (_, index) => contractOf(1_000 + index));
    await hold(COLLECTION, ...other);
    await seedTrades(stage.scratch.database, eth, [
      sale(200, { price: ether(2) }),
      sale(30, { price: ether(3) }),
    ]);
    const { result } = await get('?include_prices=true');
    const shown = new Map(result.map((row) => [row.token_address, row.last_sale]));
    expect(shown.get(COLLECTION)).toMatchObject({
      price: ether(3),
      price_formatted: '0.003',
      token_address: COLLECTION,
      buyer_address: BUYER,
      seller_address: SELLER,
    });
    expect(other.map((contract) => shown.get(contract))).toEqual(other.map(() => null));
  });

  test('of another wallet or chain is not shown', async () => {
    await hold(A);
    await seedHoldings(stage.scratch.database, base, WALLET, [{ contract: B, ids: 1 }]);
    await seedHoldings(stage.scratch.database, eth, C, [{ contract: C, ids: 1 }]);
    expect(addressesOf(await get())).toEqual([A]);
    expect(addressesOf(await get('?chain=0x2105'))).toEqual([B]);
    expect(addressesOf(await get('', WALLET.toUpperCase().replace('0X', '0x')))).toEqual([A]);
  });
});

describe('spam', () => {
  beforeEach(async () => {
    await hold(A, B, C);
    const facts = (contract: Address, more: object) => ({
      address: addressBytes(contract),
      chain_id: 1,
      ...more,
    });
    await seedRow(stage.scratch.database, 'tokens', facts(A, { possible_spam: true }));
    await seedRow(stage.scratch.database, 'tokens', facts(B, { possible_spam: true }));
    await seedRow(stage.scratch.database, 'collection_list_entries', {
      token_address: addressBytes(B),
      chain_id: 1,
      source: 'a',
      possible_spam: false,
    });
  });

  test('is told by the token’s metadata, unless a list knows better; a list of scams always counts', async () => {
    expect((await get()).result.map((row) => row.possible_spam)).toEqual([true, false, false]);
    await seedRow(stage.scratch.database, 'spam_list_entries', {
      address: addressBytes(B),
      chain_id: 0,
      source: 'scams',
    });
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
    stage.scratch.database
      .query<{ address: string; due: boolean | null; requestedBy: string | null }>(
        sql`SELECT '0x' || encode(token_address, 'hex') AS address, due_at <= now() AS due, requested_by FROM nft_collections ORDER BY 1`,
      )
      .then((rows) => rows.map(({ address, due, requestedBy }) => [address, due, requestedBy]));

  test('of collections that nobody asked for is left to the worker, once and in nobody’s name; spam is not', async () => {
    await hold(A, B, C);
    await seedRow(stage.scratch.database, 'tokens', {
      address: addressBytes(B),
      chain_id: 1,
      possible_spam: true,
    });
    await seedRow(stage.scratch.database, 'nft_collections', {
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

  test('is asked for in bounds', async () => {
    await hold(...Array.from({ length: 60 }, (_, index) => contractOf(1_000 + index)));
    await get();
    expect(await queued()).toHaveLength(20);
    await stage.scratch.database.query(
      sql`INSERT INTO nft_collections (token_address, chain_id, due_at)
       SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), 10, now() FROM generate_series(1, 480) AS number`,
    );
    await get();
    expect(await queued()).toHaveLength(500);
  });
});
