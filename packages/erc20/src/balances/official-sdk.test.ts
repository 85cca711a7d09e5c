import { type ApiServer, serveApi } from '@chainstead/http';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { addressOf, type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALICE, GOLD, SILVER } from './testing/balance-stage.ts';
import { type BalancesApi, ERC20_PATH, openBalancesApi, TOKENS_PATH } from './testing/balances-api.ts';

const MINTER = addressOf(0x111);
let served: BalancesApi;
let server: ApiServer;
let EvmApi: Moralis['EvmApi'];

beforeAll(async () => {
  served = await openBalancesApi();
  await served.know(GOLD, { name: 'Gold', symbol: 'AU', decimals: 6, facts_status: 'known', verified: true });
  // Nothing is known of the other one: every field that may be null is.
  await served.stage.mine([
    { token: GOLD, from: MINTER, to: ALICE, value: 1_500_000n },
    { token: SILVER, from: MINTER, to: ALICE, value: 5n },
  ]);
  for (const node of served.stage.nodes) node.coins = 5n * 10n ** 18n;
  server = await serveApi(served.api, { host: '127.0.0.1', port: 0 });
  ({ EvmApi } = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url })).Moralis);
});
afterAll(async () => {
  await server.close();
  await served.close();
});

test('reads the balances of a wallet', async () => {
  const answer = await EvmApi.token.getWalletTokenBalances({ address: ALICE, chain: '0x1' });
  expect(answer.toJSON()).toEqual(await (await served.request(ERC20_PATH)).json());
  const byToken = new Map(answer.result.map((row) => [row.token?.contractAddress.lowercase, row]));
  expect(byToken.get(GOLD)?.amount.toString()).toBe('1500000');
  expect(byToken.get(GOLD)?.value).toBe('1.5');
  expect(byToken.get(SILVER)?.amount.toString()).toBe('5');
});

test('names tokens and a block as this server reads them', async () => {
  const options = { address: ALICE, chain: '0x1', tokenAddresses: [SILVER], toBlock: 1, excludeSpam: true };
  const { result } = await EvmApi.token.getWalletTokenBalances(options);
  expect(result.map(({ token }) => token?.contractAddress.lowercase)).toEqual([SILVER]);
});

test('reads pages of tokens to their end, the coin first', async () => {
  let page = await EvmApi.wallets.getWalletTokenBalancesPrice({ address: ALICE, chain: '0x1', limit: 1 });
  const seen: string[] = [];
  for (;;) {
    seen.push(...page.result.map(({ tokenAddress, balance }) => `${tokenAddress?.lowercase} ${balance.wei}`));
    if (!page.hasNext()) break;
    page = await page.next();
  }
  expect(seen).toEqual([`0x${'ee'.repeat(20)} ${5n * 10n ** 18n}`, `${GOLD} 1500000`, `${SILVER} 5`]);
  const whole = await EvmApi.wallets.getWalletTokenBalancesPrice({ address: ALICE, chain: '0x1' });
  expect(whole.toJSON()).toEqual(await (await served.request(TOKENS_PATH)).json());
});
