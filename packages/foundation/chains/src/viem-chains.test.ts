import * as viemChains from 'viem/chains';
import { expect, test } from 'vitest';
import * as written from './viem-chains.ts';

test.each(Object.entries(written))('%s is as viem has it', (name, facts) => {
  const { id, nativeCurrency, rpcUrls, contracts }: viemChains.Chain = Object(viemChains)[name];
  const { name: currency, symbol, decimals } = nativeCurrency;
  const multicall3 = contracts?.multicall3;
  expect(facts).toEqual({
    id,
    nativeCurrency: { name: currency, symbol, decimals },
    rpcUrls: rpcUrls.default.http,
    multicall3:
      multicall3 === undefined
        ? null
        : { address: multicall3.address.toLowerCase(), blockCreated: multicall3.blockCreated ?? 0 },
  });
});
