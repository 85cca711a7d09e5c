/** Invalid requests for swaps: status and message of every response. */
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { createMarketRoutes } from '../market-routes.ts';
import { noBackfill } from './testing/no-backfill.ts';

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, createMarketRoutes(noBackfill)));

const A = addressOf(0xab);
const INVALID_ADDRESS = '[C0005] Invalid address provided';
const BLOCK = 'must be a block number (a whole number from 0 to 9007199254740991)';
const LIMIT = 'must be a whole number from 1 (above 100 means 100)';
const TYPES = 'must be buy, sell, addLiquidity or removeLiquidity';

test.each([
  ['/pairs/0x12/swaps', INVALID_ADDRESS],
  [`/pairs/${A}ab/swaps`, INVALID_ADDRESS],
  [`/pairs/0x${'g'.repeat(64)}/swaps`, INVALID_ADDRESS],
  ['/erc20/vitalik.eth/swaps', INVALID_ADDRESS],
  [`/erc20/0x${'ab'.repeat(32)}/swaps`, INVALID_ADDRESS],
  ['/wallets/1/swaps', INVALID_ADDRESS],
  [`/wallets/${A}/swaps?tokenAddress=0x1`, INVALID_ADDRESS],
  [`/wallets/${A}/swaps?transactionTypes=swap`, 'transactionTypes.0 must be buy or sell, "swap" was given'],
  [
    `/wallets/${A}/swaps?transactionTypes=addLiquidity`,
    'transactionTypes.0 must be buy or sell, "addLiquidity" was given',
  ],
  [`/erc20/${A}/swaps?transactionTypes=buy,BUY`, 'transactionTypes.1 must be buy or sell, "BUY" was given'],
  [`/pairs/${A}/swaps?transactionTypes[]=mint`, `transactionTypes.0 ${TYPES}, "mint" was given`],
  [`/pairs/${A}/swaps?fromBlock=x`, `fromBlock ${BLOCK}, "x" was given`],
  [`/pairs/${A}/swaps?from_block=x`, `fromBlock ${BLOCK}, "x" was given`],
  [`/erc20/${A}/swaps?toBlock=1.5`, `toBlock ${BLOCK}, "1.5" was given`],
  [`/erc20/${A}/swaps?limit=0`, `limit ${LIMIT}, "0" was given`],
  [`/erc20/${A}/swaps?limit=-1`, `limit ${LIMIT}, "-1" was given`],
  [`/wallets/${A}/swaps?order=up`, 'order must be ASC or DESC, "up" was given'],
  [`/wallets/${A}/swaps?fromBlock=5&toBlock=4`, 'from_block must be at most to_block (4), "5" was given'],
  [`/wallets/${A}/swaps?cursor=abc`, 'Cursor is invalid or expired'],
  [`/pairs/${A}/swaps?cursor=abc`, 'Cursor is invalid or expired'],
])('%s', async (path, message) => {
  const response = await api.request(`/api/v2.2${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ message })]);
});

test('an unknown chain is refused', async () => {
  const response = await api.request(`/api/v2.2/pairs/${A}/swaps?chain=nowhere`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  expect(response.status).toBe(400);
});
