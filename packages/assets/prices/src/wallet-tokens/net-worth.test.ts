/** Net worth of a wallet over stored pools. */
import { ALICE } from '@chainstead/erc20/testing';
import { serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { startOfficialSdk } from '@chainstead/testkit';
import { stageOfTest } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { BIRDS, CATS, DAYS_LATER, DOGS, FISH, openPricedWallet, USDC } from './testing/priced-wallet.ts';

const PATH = `/api/v2.2/wallets/${ALICE}/net-worth`;

const served = stageOfTest(openPricedWallet);

interface Body {
  readonly total_networth_usd: string;
  readonly chains: readonly Record<string, unknown>[];
}

const worth = async (query = ''): Promise<string> =>
  (await served.body<Body>(`${PATH}${query}`)).total_networth_usd;

test('has every field, and sums exact values', async () => {
  await served.pool(CATS, [[0, 3_000_000, 1_000_000]]);
  await served.pool(DOGS, [[0, 100, 100]]);
  await served.hold([
    [CATS, 200],
    [DOGS, 30],
    [FISH, 5],
    [USDC, 100],
  ]);
  for (const node of served.stage.nodes) node.coins = 10n ** 17n;
  expect(await served.body<Body>(PATH)).toEqual({
    // 200 + 100 + 200 / 3.
    total_networth_usd: '366.67',
    chains: [
      {
        chain: 'eth',
        native_balance: '100000000000000000',
        native_balance_formatted: '0.1',
        native_balance_usd: '200.00',
        token_balance_usd: '166.67',
        token_balance_usd_uncapped: '166.67',
        networth_usd: '366.67',
        indexed: { from_block: '0', to_block: '6', complete: true },
      },
    ],
    unsupported_chain_ids: [],
    unavailable_chains: [],
  });
  expect(await worth('?min_pair_side_liquidity_usd=50')).toBe('396.67');
  expect(await worth('?exclude_unverified_contracts=true')).toBe('200.00');
  expect(await worth('?chains=eth,0x1&exclude_spam=true')).toBe('366.67');
  expect(await served.body(`${PATH}?chains[]=0x89`)).toEqual({
    ...{ total_networth_usd: '0.00', chains: [], unsupported_chain_ids: [] },
    unavailable_chains: [{ chain_id: '0x89' }],
  });
  expect((await served.request(`${PATH}?chains=nowhere`)).status).toBe(400);
});

test('an airdrop counts with at most what its pools could pay out', async () => {
  await served.pool(CATS, [[0, 1_000, 1_000]]);
  await served.pool(BIRDS, [
    [0, 1_000, 1_000],
    // A deposit in the last block adds nothing.
    [6, 1_000_000, 1_000_000],
  ]);
  await served.hold([
    [CATS, 1_000_000_000],
    [BIRDS, 1_000_000_000],
  ]);
  expect(await served.body<Body>(PATH)).toMatchObject({
    chains: [
      {
        native_balance_usd: '0.00',
        token_balance_usd: '2000.00',
        token_balance_usd_uncapped: '2000000000.00',
      },
    ],
  });
});

test('tokens without recent changes of their pools do not count, nor does a price from an incomplete feed', async () => {
  await served.pool(CATS, [
    [0, 1_000, 1_000],
    [DAYS_LATER, 1_000, 1_000],
  ]);
  await served.pool(BIRDS, [[0, 1_000, 1_000]]);
  await served.hold([
    [CATS, 1],
    [BIRDS, 1],
  ]);
  for (const node of served.stage.nodes) node.coins = 10n ** 17n;
  expect(await worth()).toBe('202.00');
  expect(await worth('?max_token_inactivity=1')).toBe('201.00');
  // The pools are against a dollar token, whose feed is unknown too.
  await served.cover('feed-answers', DAYS_LATER + 1);
  expect(await worth()).toBe('0.00');
});

test('a native balance that no node returned makes it incomplete', async () => {
  await served.hold([[USDC, 7]]);
  expect(await worth()).toBe('7.00');
  for (const node of served.stage.nodes) node.isDown = true;
  expect(await served.body<Body>(PATH)).toMatchObject({
    total_networth_usd: '7.00',
    chains: [{ native_balance: '0', indexed: { complete: false } }],
  });
});

test('the official SDK reads it, and the prices of tokens', async () => {
  await served.hold([[USDC, 7]]);
  for (const node of served.stage.nodes) node.coins = 10n ** 17n;
  const server = await serveApi(served.api, { host: '127.0.0.1', port: 0 });
  try {
    const { Moralis } = await startOfficialSdk({ address: server.url, apiKey: EXAMPLE_KEY });
    const { wallets } = Moralis.EvmApi;
    const { result } = await wallets.getWalletNetWorth({ address: ALICE, chains: ['0x1'], excludeSpam: true });
    expect(result.totalNetworthUsd).toBe('207.00');
    expect(result.chains.map(({ chain, nativeBalance }) => [chain, nativeBalance.wei])).toEqual([
      ['eth', '100000000000000000'],
    ]);
    const tokens = await wallets.getWalletTokenBalancesPrice({
      address: ALICE,
      chain: '0x1',
      maxTokenInactivity: 1,
    });
    expect(tokens.result.map(({ symbol, usdPrice, usdValue }) => [symbol, usdPrice, usdValue])).toEqual([
      ['ETH', 2_000, 200],
      ['USDC', 1, 7],
    ]);
  } finally {
    await server.close();
  }
});
