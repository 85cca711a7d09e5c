import { readFileSync } from 'node:fs';
import { recordedData } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { exchanges, knownExchanges } from './exchanges-of-chain.ts';

const FACTS = recordedData('contract/dexes.json');

interface Fact {
  readonly exchange_name: string;
  readonly family: string;
  readonly pool_created: { readonly topic0: string } | null;
  readonly addresses: readonly {
    readonly chain: string;
    readonly address: string;
    readonly first_block: number | null;
  }[];
}

const facts: readonly Fact[] = FACTS.isMissing ? [] : JSON.parse(readFileSync(FACTS.folder, 'utf8')).dexes;

describe.skipIf(FACTS.isMissing)(FACTS.title('facts'), () => {
  test('there are 82 exchanges', () => expect(facts).toHaveLength(82));

  test.each(facts)(
    '$exchange_name ($family) is at these addresses',
    ({ exchange_name: name, addresses, pool_created: created }) => {
      for (const { chain, address, first_block: firstBlock } of addresses) {
        const found = knownExchanges(Number(chain)).all.find(({ deployment }) => deployment.factory === address);
        expect(found?.exchange.name, `${chain} ${address}`).toBe(name);
        expect(found?.deployment.firstBlock).toBe(firstBlock);
        const topics = found?.exchange.family.creations.map(({ topic }) => topic);
        // Curve's creation event doesn't name the pool.
        if (created !== null && !name.startsWith('Curve')) expect(topics).toContain(created.topic0);
      }
    },
  );
});

test('a factory belongs to one exchange of its chain', () => {
  const chains = new Set(exchanges.flatMap(({ deployments }) => deployments.map(({ chainId }) => chainId)));
  for (const chain of chains) {
    const { all, byFactory } = knownExchanges(chain);
    expect(byFactory.size, `chain ${chain}`).toBe(all.length);
  }
});

test('a chain without exchanges has none', () => {
  expect(knownExchanges(31_337)).toEqual({
    all: [],
    byFactory: new Map(),
    vaults: new Map(),
    creationTopics: [],
  });
});
