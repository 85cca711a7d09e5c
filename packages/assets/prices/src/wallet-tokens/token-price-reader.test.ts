/** Prices for routes of owners and approvals, over stored pools. */
import { createChainRegistry } from '@chainstead/chains';
import { nearestNumber, silentLogger } from '@chainstead/core';
import { stageOfTest } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { CATS, DAYS_LATER, DOGS, FISH, openPricedWallet, USDC } from './testing/priced-wallet.ts';
import { createTokenPriceReader } from './token-price-reader.ts';

const eth = createChainRegistry().get('eth');
const served = stageOfTest(openPricedWallet);

test('prices are those of the end of the block, and tokens without one are missing', async () => {
  await served.pool(CATS, [
    [0, 1_000_000, 1_000_000],
    [DAYS_LATER, 1_000_000, 1_050_000],
  ]);
  await served.pool(DOGS, [[0, 100, 100]]);
  await served.hold([[CATS, 200]]);
  const { database } = served.scratch;
  const read = createTokenPriceReader(served.balances);
  const pricesAt = async (block: number) => {
    const prices = await read({ database, logger: silentLogger() }, eth, [CATS, CATS, DOGS, FISH, USDC], block);
    return [...prices].map(([token, price]) => [token, nearestNumber(price.usd)]);
  };
  expect(await pricesAt(DAYS_LATER - 1)).toEqual([
    [CATS, 1],
    [USDC, 1],
  ]);
  expect(await pricesAt(DAYS_LATER + 2)).toEqual([
    [CATS, 1.05],
    [USDC, 1],
  ]);
});
