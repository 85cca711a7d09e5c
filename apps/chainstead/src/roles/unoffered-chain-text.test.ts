import { createChainRegistry } from '@chainstead/chains';
import { describe, expect, test } from 'vitest';
import { createUnofferedChainText } from './gateway-api.ts';

const registry = createChainRegistry();
const offered = ['base', 'bsc-testnet'].map((slug) => ({ slug, chain: registry.get(slug) }));

describe('of a path segment without a chain', () => {
  const explain = createUnofferedChainText(registry, offered, 'CHAINS');

  test.each([
    ['eth', 'Chain eth is not offered here: add it to CHAINS (CHAINS=eth,…) and restart'],
    ['0x1', 'Chain eth is not offered here: add it to CHAINS (CHAINS=eth,…) and restart'],
    ['ETH', 'Chain eth is not offered here: add it to CHAINS (CHAINS=eth,…) and restart'],
    ['0x2105', 'Chain base is at /base/{apiKey} here, not at /0x2105'],
    ['bsc%20testnet', 'Chain bsc-testnet is at /bsc-testnet/{apiKey} here, not at /bsc%20testnet'],
    ['polygn', 'There is no chain polygn; did you mean polygon?'],
    ['nowhere-at-all', 'There is no chain nowhere-at-all: offered here are base, bsc-testnet'],
    ['0123456789abcdef0123456789abcdef', 'There is no chain …: offered here are base, bsc-testnet'],
    ['<script>', 'There is no chain …: offered here are base, bsc-testnet'],
  ])('%s it says: %s', (slug, text) => {
    expect(explain(slug)).toBe(text);
  });
});

test('the key that names the gateway’s chains is the one to set', () => {
  const explain = createUnofferedChainText(registry, [], 'GATEWAY_CHAINS');
  expect(explain('eth')).toContain('add it to GATEWAY_CHAINS (GATEWAY_CHAINS=eth,…)');
  expect(explain('nowhere-at-all')).toBe('There is no chain nowhere-at-all: none is offered here');
});
