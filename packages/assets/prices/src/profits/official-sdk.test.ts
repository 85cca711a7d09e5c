/** The official SDK reads profits as they are sent. */
import { serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createScratchDatabase, type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANN, CATS, cats, dollars, profitRoutesOf, seedStage, seedTrades } from './testing/profit-stage.ts';

const chain = '0x1';
const parts = new AsyncDisposableStack();
let url: string;
let sdk: Moralis['EvmApi'];

beforeAll(async () => {
  const { database } = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  await seedStage(database);
  await seedTrades(database, [
    { block: 10, gave: dollars(20), got: cats(10) },
    { block: 11, gave: cats(4), got: dollars(12) },
  ]);
  const api = await exampleApi(database, profitRoutesOf(database));
  ({ url } = parts.adopt(await serveApi(api, { host: '127.0.0.1', port: 0 }), (one) => one.close()));
  sdk = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: url })).Moralis.EvmApi;
});
afterAll(() => parts.disposeAsync());

async function sent(path: string): Promise<unknown> {
  const response = await fetch(`${url}/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  return response.json();
}

test('profits of a wallet by token', async () => {
  const query = { address: ANN, days: 'all', tokenAddresses: [CATS] };
  // Without a chain, as with one.
  for (const found of [
    await sdk.wallets.getWalletProfitability(query),
    await sdk.wallets.getWalletProfitability({ ...query, chain }),
  ]) {
    expect(found.toJSON()).toEqual(await sent(`wallets/${ANN}/profitability`));
    const [row] = found.result.result ?? [];
    expect([row?.tokenAddress.lowercase, row?.realizedProfitUsd, row?.decimals]).toEqual([CATS, '4', 6]);
  }
});

test('the summary of a wallet', async () => {
  const found = await sdk.wallets.getWalletProfitabilitySummary({ address: ANN, days: '30', chain });
  expect(found.toJSON()).toEqual(await sent(`wallets/${ANN}/profitability/summary?days=30`));
  expect(found.result).toMatchObject({ totalCountOfTrades: 2, totalRealizedProfitUsd: '4' });
});

test('the profitable wallets of a token', async () => {
  const found = await sdk.token.getTopProfitableWalletPerToken({ address: CATS, days: '7', chain });
  expect(found.toJSON()).toEqual(await sent(`erc20/${CATS}/top-gainers?days=7`));
  expect(found.result.decimals).toBe(6);
  expect(
    found.result.result.map(({ address, realizedProfitUsd }) => [address.lowercase, realizedProfitUsd]),
  ).toEqual([[ANN, '4']]);
});
