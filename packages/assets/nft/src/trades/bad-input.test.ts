/** Invalid trade and price requests: status and message of every response. */
import { exampleApi } from '@chainstead/http/testing';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { collectionSalePricesRoute, tokenSalePricesRoute } from '../sale-prices/sale-prices-route.ts';
import { MARKETPLACE_NAMES } from './marketplace.ts';
import { request } from './testing/requested-trades.ts';
import { COLLECTION, SELLER } from './testing/seeded-trades.ts';
import { collectionTradesRoute, tokenTradesRoute, walletTradesRoute } from './trades-route.ts';

const INVALID_ADDRESS = '[C0005] Invalid address provided';
const INVALID_TOKEN_ID = '[C0005] Invalid TokenId provided';
const BLOCK = 'must be a block number (a whole number from 0 to 9007199254740991)';
const DATE =
  'must be a date (2024-01-31, 2024-01-31T12:00:00Z, 2024/01/31 12:00, 20240131, Jan 31, 2024, RFC 2822, Unix seconds or milliseconds)';
const LIMIT = 'must be a whole number from 1 (above 100 means 100)';
const CHAIN = 'must be a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id';
const MARKETPLACE = `must be ${MARKETPLACE_NAMES.join(', ')} or all`;
const DAYS = 'must be a whole number from 0 to 365';
const BOOLEAN = 'must be true or false';
const CURSOR = 'cursor must be the cursor of an earlier page of this query, unchanged';
const given = (value: string): string => `, ${JSON.stringify(value)} was given`;

const scratch = scratchOfFile();
const api = madeForFile(() =>
  exampleApi(scratch.database, [
    tokenTradesRoute,
    collectionTradesRoute,
    walletTradesRoute,
    tokenSalePricesRoute,
    collectionSalePricesRoute,
  ]),
);

/** @param given the value that the details repeat; default: not checked */
async function expectRefusal(path: string, message: string, given?: string): Promise<void> {
  const { status, body } = await request(api, path);
  expect([status, body.message]).toEqual([400, message]);
  if (given !== undefined) expect(body).toMatchObject({ details: { errors: [{ given }] } });
}

describe('a token id', () => {
  const tooLarge = (2n ** 256n).toString();
  test.each([
    ['-1', '-1'],
    ['1.5', '1.5'],
    ['1e3', '1e3'],
    ['abc', 'abc'],
    ['0x', '0x'],
    ['0xg', '0xg'],
    ['%20', ' '],
    ['1%20', '1 '],
    ['%2B1', '+1'],
    ['0b1', '0b1'],
    ['%D9%A1', '١'],
    [tooLarge, tooLarge],
    [`0x1${'0'.repeat(64)}`, `0x1${'0'.repeat(64)}`],
  ])('that is malformed: %s', async (sent, read) => {
    await expectRefusal(`/nft/${COLLECTION}/${sent}/trades`, INVALID_TOKEN_ID, read);
    await expectRefusal(`/nft/${COLLECTION}/${sent}/price`, INVALID_TOKEN_ID, read);
  });
});

describe('a malformed address', () => {
  test('is refused by every route', async () => {
    const address = 'vitalik.eth';
    for (const path of [
      `/nft/${address}/1/trades`,
      `/nft/${address}/trades`,
      `/wallets/${address}/nfts/trades`,
      `/nft/${address}/1/price`,
      `/nft/${address}/price`,
    ])
      await expectRefusal(path, INVALID_ADDRESS, address);
  });
});

describe('a parameter of trades', () => {
  test.each([
    ['chain=nowhere', `chain ${CHAIN}${given('nowhere')}`],
    ['limit=0', `limit ${LIMIT}${given('0')}`],
    ['from_block=-1', `from_block ${BLOCK}${given('-1')}`],
    ['to_block=latest', `to_block ${BLOCK}${given('latest')}`],
    ['from_block=9&to_block=8', 'from_block must be at most to_block (8), "9" was given'],
    ['from_date=yesterday-ish', `from_date ${DATE}${given('yesterday-ish')}`],
    ['to_date=', `to_date ${DATE}${given('')}`],
    ['cursor=abc', `${CURSOR}${given('abc')}`],
    ['nft_metadata=maybe', `nft_metadata ${BOOLEAN}${given('maybe')}`],
    ['limit=0&chain=nowhere', `chain ${CHAIN}${given('nowhere')}, limit ${LIMIT}${given('0')}`],
  ])('%s', async (query, message) => {
    for (const path of [
      `/nft/${COLLECTION}/1/trades`,
      `/nft/${COLLECTION}/trades`,
      `/wallets/${SELLER}/nfts/trades`,
    ])
      await expectRefusal(`${path}?${query}`, message);
  });

  test.each(['sudoswap', '', 'opensea,blur', 'null'])('marketplace=%s', async (marketplace) => {
    await expectRefusal(
      `/nft/${COLLECTION}/trades?marketplace=${marketplace}`,
      `marketplace ${MARKETPLACE}${given(marketplace)}`,
    );
  });
});

describe('a parameter of prices', () => {
  test.each([
    ['days=366', `days ${DAYS}${given('366')}`],
    ['days=7.5', `days ${DAYS}${given('7.5')}`],
    ['days=', `days ${DAYS}${given('')}`],
    ['include_weth=1', `include_weth ${BOOLEAN}${given('1')}`],
    ['chain=0x0', `chain ${CHAIN}${given('0x0')}`],
  ])('%s', async (query, message) => {
    for (const path of [`/nft/${COLLECTION}/1/price`, `/nft/${COLLECTION}/price`])
      await expectRefusal(`${path}?${query}`, message);
  });
});
