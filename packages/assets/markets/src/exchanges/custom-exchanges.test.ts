import type { CustomExchange } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { withCustomExchanges } from './custom-exchanges.ts';
import { knownExchanges } from './exchanges-of-chain.ts';
import { recomputePool } from './prove-pool.ts';

const factory = addressOf(0xfac);

describe('exchanges of settings', () => {
  test('have the members of known ones', () => {
    const manager = addressOf(0x44);
    const { all, byFactory, vaults, creationTopics } = withCustomExchanges(31_337, [
      { family: 'v2', factory: factory.toUpperCase().replace('0X', '0x'), name: 'Demo' },
      { family: 'v4', factory: manager },
    ]);
    expect(all.map(({ exchange }) => exchange.name)).toEqual(['Demo', 'v4']);
    expect(byFactory.get(factory)).toMatchObject({
      exchange: { name: 'Demo' },
      deployment: { chainId: 31_337, factory, addressRule: null },
    });
    expect([...vaults]).toEqual([[manager, '']]);
    expect(creationTopics).toHaveLength(2);
  });

  test('join those of a known chain, or replace them', () => {
    const known = knownExchanges(1);
    const uniswap = '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f';
    const replaced = withCustomExchanges(1, [{ family: 'v2', factory: uniswap, name: 'Mine' }], known);
    expect(replaced.all).toHaveLength(known.all.length);
    expect(replaced.all.at(-1)?.exchange.name).toBe('Mine');
    expect(withCustomExchanges(1, [{ family: 'v2', factory }], known).all).toHaveLength(known.all.length + 1);
  });

  test('recompute addresses of pools if they have a hash of the init code', () => {
    const initCodeHash = '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f';
    const uniswap = '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f';
    const pair = parseAddress('0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc');
    const tokens = [
      parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'),
      parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'),
    ] as const;
    const recomputed = (custom: CustomExchange) => recomputePool(pair, tokens, withCustomExchanges(5, [custom]));
    expect(recomputed({ family: 'v2', factory: uniswap, initCodeHash })).toMatchObject({ pool: pair, tokens });
    expect(recomputed({ family: 'v2', factory: uniswap })).toBeNull();
  });

  test.each<[problem: string, CustomExchange[]]>([
    ['there is no family v9', [{ family: 'v9', factory }]],
    ['its factory is no address', [{ family: 'v2', factory: '0x12' }]],
    ['its initCodeHash is no hash', [{ family: 'v2', factory, initCodeHash: '0x12' }]],
    [
      'its factory is listed twice',
      [
        { family: 'v2', factory },
        { family: 'v3', factory },
      ],
    ],
  ])('%s', (problem, custom) => {
    expect(() => withCustomExchanges(5, custom)).toThrow(
      expect.objectContaining({ code: 'INVALID_EXCHANGE', message: expect.stringContaining(problem) }),
    );
  });
});
