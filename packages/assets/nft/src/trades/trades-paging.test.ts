import { sql } from '@chainstead/db';
import { exampleApi } from '@chainstead/http/testing';
import { addressOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import { blocksOf, eth, getTradesPage, request, type TradesAnswer } from './testing/requested-trades.ts';
import {
  COLLECTION,
  removeTrades,
  SELLER,
  type SeededTrade,
  seedDatasetCoverage,
  seedTrades,
} from './testing/seeded-trades.ts';
import { collectionTradesRoute, tokenTradesRoute, walletTradesRoute } from './trades-route.ts';

const scratch = scratchOfFile();
const api = madeForFile(() =>
  exampleApi(scratch.database, [tokenTradesRoute, collectionTradesRoute, walletTradesRoute]),
);
beforeEach(() => scratch.database.query(sql`TRUNCATE nft_trades, nft_sale_days, blocks, sync_ranges`));

const seed = (...trades: SeededTrade[]): Promise<void> => seedTrades(scratch.database, eth, trades);

const ROUTES = [
  ['a token', `/nft/${COLLECTION}/1/trades`],
  ['a collection', `/nft/${COLLECTION}/trades`],
  ['a wallet', `/wallets/${SELLER}/nfts/trades`],
] as const;

/** Reads all pages; `between` runs after the first. */
async function readAll(path: string, query: string, between?: () => Promise<unknown>): Promise<TradesAnswer[]> {
  const pages = [await getTradesPage(api, `${path}?${query}`)];
  await between?.();
  for (let cursor = pages[0]?.cursor ?? null; cursor !== null; cursor = pages.at(-1)?.cursor ?? null)
    pages.push(await getTradesPage(api, `${path}?cursor=${cursor}`));
  return pages;
}

test.each(ROUTES)('rows that arrive at the head stay out of a running cursor of %s', async (_, path) => {
  await seed(...[1, 2, 3, 4, 5].map((blockNumber) => ({ blockNumber })));
  await seedDatasetCoverage(scratch.database, eth, 'nft-trades', 0, 6);
  const pages = await readAll(path, 'limit=2', () => seed({ blockNumber: 7 }, { blockNumber: 0 }));
  expect(pages.flatMap(blocksOf)).toEqual([5, 4, 3, 2, 1, 0]);
});

test('rows that a reorg takes away vanish from the pages that follow', async () => {
  await seed(...[1, 2, 3, 4, 5].map((blockNumber) => ({ blockNumber })));
  const remove = () => scratch.database.transaction((transaction) => removeTrades(transaction, eth, [2, 4]));
  const pages = await readAll(ROUTES[0][1], 'limit=2', remove);
  expect(pages.flatMap(blocksOf)).toEqual([5, 4, 3, 1]);
});

test('a cursor keeps the whole filter, and is refused with another one', async () => {
  await seed(...[1, 2, 3, 4, 5].map((blockNumber) => ({ blockNumber, marketplace: 'blur' })));
  const path = `/nft/${COLLECTION}/trades`;
  const { cursor } = await getTradesPage(api, `${path}?marketplace=blur&from_block=2&limit=2&nft_metadata=false`);
  const second = await getTradesPage(api, `${path}?cursor=${cursor}`);
  expect(blocksOf(second)).toEqual([3, 2]);
  expect(second).toMatchObject({ page: 1, page_size: 2, cursor: null });
  expect(second.result[0]).not.toHaveProperty('nft_metadata');
  expect(
    blocksOf(await getTradesPage(api, `${path}?cursor=${cursor}&marketplace=blur&chain=0x1&limit=2`)),
  ).toEqual([3, 2]);
  const refusals = [
    [
      `${path}?cursor=${cursor}&marketplace=all`,
      'marketplace must be "blur" as in the cursor, or left out, "all" was given',
    ],
    [`${path}?cursor=${cursor}&from_block=3`, 'from_block must be 2 as in the cursor, or left out, 3 was given'],
    [
      `${path}?cursor=${cursor}&chain=base`,
      'chain must be "eth" as in the cursor, or left out, "base" was given',
    ],
    [
      `${path}?cursor=${cursor}&nft_metadata=true`,
      'nft_metadata must be false as in the cursor, or left out, true was given',
    ],
    [
      `/nft/${addressOf(1)}/trades?cursor=${cursor}`,
      `address must be "${COLLECTION}" as in the cursor, or left out, "${addressOf(1)}" was given`,
    ],
    [
      `/nft/${COLLECTION}/1/trades?cursor=${cursor}`,
      'cursor must be the cursor of an earlier page of this query, unchanged',
    ],
    [
      `/wallets/${SELLER}/nfts/trades?cursor=${cursor}`,
      'cursor must be the cursor of an earlier page of this query, unchanged',
    ],
  ] as const;
  for (const [url, message] of refusals) {
    const { status, body } = await request(api, url);
    expect([status, String(body.message).replace(/, "[^"]*…" was given$/, '')]).toEqual([400, message]);
  }
});
