import { expect, test } from 'vitest';
import { createChainRegistry } from './chain-registry.ts';

const chains = createChainRegistry();
const withSources = chains
  .all()
  .filter(({ etherPrice }) => etherPrice.feed !== null || etherPrice.pools.length > 0);

test('every chain that trades NFTs has an ETH/USD feed, but for two that none is known on', () => {
  const without = chains.all().filter((chain) => chain.nftPrices && chain.etherPrice.feed === null);
  expect(without.map(({ key }) => key).toSorted()).toEqual(['monad', 'sei']);
});

test('no contract stands for two chains or twice for one', () => {
  const addresses = withSources.flatMap(({ etherPrice: { feed, pools } }) => [
    ...(feed === null ? [] : [feed.proxy, ...feed.aggregators]),
    ...pools.map(({ address }) => address),
  ]);
  expect(new Set(addresses).size).toBe(addresses.length);
  expect(addresses.length).toBeGreaterThan(30);
});

test.each([
  ['eth', 8, 2, 1],
  ['optimism', 8, 1, 2],
  ['bsc', 8, 2, 2],
  ['base', 8, 2, 1],
  ['arbitrum', 8, 1, 2],
  ['polygon', 8, 1, 2],
  ['avalanche', 8, 2, 1],
  ['linea', 8, 1, 0],
])('%s: a feed of %i decimals with %i aggregators, %i pools', (key, decimals, aggregators, pools) => {
  const { feed, pools: known } = chains.get(key).etherPrice;
  expect([feed?.decimals, feed?.aggregators.length, known.length]).toEqual([decimals, aggregators, pools]);
});

test('dollar tokens have 18 decimals on BNB Chain and 6 elsewhere', () => {
  for (const { key, etherPrice } of withSources)
    for (const { dollarDecimals } of etherPrice.pools)
      expect([key, dollarDecimals]).toEqual([key, key === 'bsc' ? 18 : 6]);
});
