import { readFileSync } from 'node:fs';
import { parseAddress } from '@chainstead/core';
import { exampleChain } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { marketplaces } from './marketplaces.ts';

const DOCUMENT = readFileSync(new URL('../../../../../docs/api/marketplaces.md', import.meta.url), 'utf8');
const PUNKS = parseAddress('0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb');
const CHAINS = [1, 10, 56, 137, 8453, 42_161, 43_114].map((id) => exampleChain({ id, cryptoPunks: PUNKS }));

test('docs/api/marketplaces.md lists every protocol and every name of the filter', () => {
  for (const { protocol, name } of marketplaces) {
    expect(DOCUMENT).toContain(`\`${protocol}\``);
    expect(DOCUMENT).toContain(`\`${name}\``);
  }
});

test('every marketplace is deployed somewhere, and has a topic', () => {
  for (const marketplace of marketplaces) {
    expect(CHAINS.some((chain) => marketplace.addresses(chain).length > 0)).toBe(true);
    expect(marketplace.topics.length).toBeGreaterThan(0);
  }
});

test('no event of a contract is read by two', () => {
  for (const chain of CHAINS) {
    const read = marketplaces.flatMap(({ topics, addresses }) =>
      addresses(chain).flatMap((address) => topics.map((topic) => `${address} ${topic}`)),
    );
    expect(new Set(read).size).toBe(read.length);
  }
});
