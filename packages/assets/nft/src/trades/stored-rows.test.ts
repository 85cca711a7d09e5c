import { sql } from '@chainstead/db';
import { createPartitions, exampleChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { nftTrades } from './dataset.ts';
import {
  erc20,
  erc721,
  erc1155,
  native,
  orderFulfilled,
  orderHash,
} from './marketplaces/testing/example-seaport.ts';
import { decodeExample } from './testing/example-trades.ts';
import { exampleAddress } from './testing/example-transaction.ts';

const scratch = scratchOfFile();
beforeAll(async () => {
  await createPartitions(scratch.database, nftTrades.table.name, exampleChain().id);
});

const MAX = 2n ** 256n - 1n;
const seller = exampleAddress(1);
const buyer = exampleAddress(2);
const apes = exampleAddress(11);
const cats = exampleAddress(12);
const usdc = exampleAddress(13);

test('Postgres keeps rows as they were decoded: the largest ids, amounts and sums, arrays, nulls', async () => {
  const parties = { offerer: seller, recipient: buyer };
  const offer = [erc721(apes, MAX), erc1155(apes, 0n, MAX), erc721(cats, 5n)];
  const paid = [erc20(usdc, MAX, seller), erc20(usdc, MAX, buyer)];
  const rows = decodeExample([
    orderFulfilled({ hash: orderHash(1), ...parties, offer, consideration: paid }),
    orderFulfilled({
      hash: orderHash(2),
      ...parties,
      offer: [erc721(cats, 6n)],
      consideration: [native(0n, seller)],
    }),
  ]);
  const unpriced = rows.map((row, place) => (place === rows.length - 1 ? { ...row, price: null } : row));
  expect(unpriced).toHaveLength(4);
  await scratch.database.transaction((transaction) =>
    transaction.copy(nftTrades.table.name, nftTrades.table.columns, unpriced.map(nftTrades.table.copyLine)),
  );
  const stored = await scratch.database.query(
    sql`SELECT collection_key::text, collection_key = address_key(token_address) AS of_collection,
       '0x' || encode(token_address, 'hex') AS "tokenAddress", log_index, item, leads,
       token_id::text, token_ids::text[], amounts::text[], protocol, marketplace, side,
       '0x' || encode(marketplace_address, 'hex') AS "marketplaceAddress", '0x' || encode(transaction_hash, 'hex') AS "transactionHash",
       '0x' || encode(seller, 'hex') AS seller, '0x' || encode(buyer, 'hex') AS buyer,
       '0x' || encode(payment_token, 'hex') AS "paymentToken", price::text, collections,
       to_char(block_timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS "blockTimestamp"
     FROM nft_trades ORDER BY log_index, token_address, item`,
  );
  expect(unpriced.map((row) => ({ ...row, ofCollection: true }))).toMatchObject(stored);
  expect(stored.map(({ tokenIds, amounts }) => [tokenIds, amounts])).toEqual([
    [
      [String(MAX), '0'],
      ['1', String(MAX)],
    ],
    [
      [String(MAX), '0'],
      ['1', String(MAX)],
    ],
    [null, null],
    [null, null],
  ]);
  expect(stored).toHaveLength(unpriced.length);
  expect(stored.at(0)?.price).toBe(String(MAX * 2n));
});
