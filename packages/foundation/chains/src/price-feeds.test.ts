import { readFileSync } from 'node:fs';
import { addressOf, recordedData } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { createChainRegistry } from './chain-registry.ts';
import { feedsOf, mergeTokenFeeds, type TokenFeed } from './price-feeds.ts';

const CONTRACT = recordedData('contract');
const chains = createChainRegistry();

interface ListedFeed {
  readonly proxy: string;
  readonly aggregator: string;
  readonly decimals: number;
}

test.skipIf(CONTRACT.isMissing)(
  CONTRACT.title('feeds of the native token and of USDC are those of the list'),
  () => {
    const { feeds }: { readonly feeds: Readonly<Record<string, readonly ListedFeed[]>> } = JSON.parse(
      readFileSync(`${CONTRACT.folder}/dexes.json`, 'utf8'),
    );
    for (const [id, listed] of Object.entries(feeds)) {
      const known = feedsOf(chains.get(Number(id)));
      for (const { proxy, aggregator, decimals } of listed) {
        const found = known.find((feed) => feed.proxy === proxy);
        expect(found, `${id} ${proxy}`).toMatchObject({ decimals });
        expect(found?.aggregators).toContain(aggregator);
      }
    }
  },
);

test('no token of a chain has two feeds, and no proxy or aggregator occurs twice', () => {
  const contracts: string[] = [];
  for (const chain of chains.all()) {
    const tokens = chain.tokenFeeds.flatMap((feed) => feed.tokens);
    expect(new Set(tokens).size, chain.key).toBe(tokens.length);
    contracts.push(...feedsOf(chain).flatMap(({ proxy, aggregators }) => [proxy, ...aggregators]));
  }
  expect(new Set(contracts).size).toBe(contracts.length);
});

test.each([
  ['eth', 5],
  ['optimism', 5],
  ['bsc', 4],
  ['gnosis', 3],
  ['polygon', 6],
  ['base', 2],
  ['arbitrum', 5],
  ['avalanche', 5],
  ['linea', 2],
  ['cronos', 0],
])('%s has %i feeds', (key, count) => {
  expect(feedsOf(chains.get(key))).toHaveLength(count);
});

describe('configured feeds', () => {
  const feed = (proxy: number, ...tokens: number[]): TokenFeed => ({
    proxy: addressOf(proxy),
    tokens: tokens.map((token) => addressOf(token)),
    decimals: 8,
    aggregators: [],
  });

  test('take the place of the known feeds of their tokens', () => {
    expect(mergeTokenFeeds([feed(1, 10, 11), feed(2, 12)], [feed(3, 10), feed(4, 12)])).toEqual([
      feed(3, 10),
      feed(4, 12),
      feed(1, 11),
    ]);
  });

  test('of several tokens behind one proxy are one feed', () => {
    expect(mergeTokenFeeds([feed(1, 10)], [feed(3, 11), feed(3, 12)])).toEqual([feed(3, 11, 12), feed(1, 10)]);
  });
});
