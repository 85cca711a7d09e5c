/** Data related to a trade: documents of its tokens, and the price of an accepted Punk bid. */

import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { exampleApi } from '@chainstead/http/testing';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { blocksOf, eth, getTradesPage } from './testing/requested-trades.ts';
import { BUYER, COLLECTION, SELLER, type SeededTrade, seedTrades } from './testing/seeded-trades.ts';
import { collectionTradesRoute, tokenTradesRoute, walletTradesRoute } from './trades-route.ts';

const bytes = (address: string): Buffer => Buffer.from(address.slice(2), 'hex');

const scratch = scratchOfFile();
const api = madeForFile(() =>
  exampleApi(scratch.database, [tokenTradesRoute, collectionTradesRoute, walletTradesRoute]),
);
beforeEach(() =>
  scratch.database.query(
    sql`TRUNCATE nft_trades, nft_sale_days, punk_bids, blocks, sync_ranges, nft_token_metadata`,
  ),
);

const seed = (...trades: SeededTrade[]): Promise<void> => seedTrades(scratch.database, eth, trades);
const tokenTrades = (query = '') => getTradesPage(api, `/nft/${COLLECTION}/1/trades${query}`);
const collectionTrades = (query = '') => getTradesPage(api, `/nft/${COLLECTION}/trades${query}`);
const walletTrades = () => getTradesPage(api, `/wallets/${SELLER}/nfts/trades`);

async function addBid(
  blockNumber: number,
  value: string,
  facts: { entered?: boolean; bidder?: Address } = {},
): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO punk_bids (token_address, chain_id, token_id, block_number, transaction_index, log_index, bidder, value, entered)
     VALUES (${bytes(COLLECTION)}, 1, 1, ${blockNumber}, 0, 0, ${bytes(facts.bidder ?? BUYER)}, ${value}, ${facts.entered ?? true})`,
  );
}

describe('nft_metadata', () => {
  const addDocument = (tokenId: string, metadata: string, status = 'known') =>
    scratch.database.query(
      sql`INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, metadata) VALUES (${bytes(COLLECTION)}, 1, ${tokenId}, ${status}, ${metadata})`,
    );

  test('adds what the documents of the tokens say', async () => {
    await seed({ blockNumber: 1, tokenIds: ['1', '2', '3', '4', '5'] });
    await addDocument('1', '{"name":"One","description":"First","image":"ipfs://1","attributes":[]}');
    await addDocument('2', '{"name":7,"image_url":"https://image.example/2"}');
    await addDocument('3', 'not JSON');
    await addDocument('4', '{"name":"late"}', 'failed');
    expect((await tokenTrades()).result[0]?.nft_metadata).toEqual([
      { token_id: '1', name: 'One', description: 'First', image: 'ipfs://1' },
      { token_id: '2', name: null, description: null, image: 'https://image.example/2' },
    ]);
    expect((await tokenTrades('?nft_metadata=false')).result[0]).not.toHaveProperty('nft_metadata');
  });

  test('survives hostile documents', async () => {
    await seed({ blockNumber: 1, tokenIds: ['1', '2', '3'] });
    await addDocument('1', '{"name":"\\u0000\\ud800"}');
    await addDocument('2', `{"name":"${'x'.repeat(70_000)}"}`);
    await addDocument('3', '{"__proto__":{"name":"inherited"},"image":null}');
    expect((await tokenTrades()).result[0]?.nft_metadata).toEqual([
      { token_id: '1', name: '\u0000\ud800', description: null, image: null },
      { token_id: '3', name: null, description: null, image: null },
    ]);
  });
});

describe('an accepted bid for a punk', () => {
  const accepted: SeededTrade = { blockNumber: 10, marketplace: 'cryptopunks', price: null };

  test('is left out while its bid is not indexed, and then has the bid’s price', async () => {
    await seed(accepted, { blockNumber: 9 });
    expect(blocksOf(await tokenTrades())).toEqual([9]);
    await addBid(3, '5');
    await addBid(8, '6');
    await addBid(11, '7');
    expect((await tokenTrades()).result.map((row) => row.price)).toEqual(['6', '1000000000000000000']);
    expect((await collectionTrades('?marketplace=cryptopunks')).result.map((row) => row.price)).toEqual(['6']);
    expect((await walletTrades()).result.map((row) => row.price)).toEqual(['6', '1000000000000000000']);
  });

  test('does not shorten a page', async () => {
    await seed(
      accepted,
      { ...accepted, blockNumber: 11 },
      { blockNumber: 8 },
      { blockNumber: 7 },
      { blockNumber: 6 },
    );
    const first = await tokenTrades('?limit=2');
    expect(blocksOf(first)).toEqual([8, 7]);
    expect(blocksOf(await tokenTrades(`?cursor=${first.cursor}`))).toEqual([6]);
  });
});
