import { type Address, type Hex, parseAddress } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { exampleLog } from '../testing/example-log.ts';
import { knownExchanges } from './exchanges-of-chain.ts';
import { decodePoolCreation, recomputePool } from './prove-pool.ts';

const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const [token0, token1] = [addressOf(1), addressOf(2)];
const pool = addressOf(0x77);
const id: Hex = `0x${'cd'.repeat(32)}`;

/** The first factory of an exchange on a chain. */
function factoryOf(chainId: number, name: string): Address {
  const found = knownExchanges(chainId).all.find(({ exchange }) => exchange.name === name);
  if (found === undefined) throw new Error(`${name} is not on chain ${chainId}`);
  return found.deployment.factory;
}

describe('a creation event of a known factory proves a pool', () => {
  test.each([
    [
      1,
      'Uniswap v2',
      'PairCreated(address indexed token0, address indexed token1, address pair, uint256 length)',
      { token0, token1, pair: pool, length: 1n },
      { pool },
    ],
    [
      1,
      'Uniswap v3',
      'PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)',
      { token0, token1, fee: 500, tickSpacing: 10, pool },
      { pool, fee: 500, tickSpacing: 10 },
    ],
    [
      137,
      'Dystopia',
      'PairCreated(address indexed token0, address indexed token1, bool stable, address pair, uint256 length)',
      { token0, token1, stable: true, pair: pool, length: 1n },
      { pool, isStable: true },
    ],
    [
      8453,
      'Aerodrome',
      'PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pool, uint256 length)',
      { token0, token1, stable: false, pool, length: 1n },
      { pool, isStable: false },
    ],
    [
      8453,
      'Aerodrome Slipstream',
      'PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool)',
      { token0, token1, tickSpacing: 200, pool },
      { pool, tickSpacing: 200, fee: null },
    ],
    [
      137,
      'Quickswap v3',
      'Pool(address indexed token0, address indexed token1, address pool)',
      { token0, token1, pool },
      { pool },
    ],
    [
      43_114,
      'Blackhole CL',
      'CustomPool(address indexed deployer, address indexed token0, address indexed token1, address pool)',
      { deployer: pool, token0, token1, pool },
      { pool },
    ],
    [
      42_161,
      'Trader Joe (Liquidity Book 2.1)',
      'LBPairCreated(address indexed tokenX, address indexed tokenY, uint256 indexed binStep, address LBPair, uint256 pid)',
      { tokenX: token0, tokenY: token1, binStep: 25n, LBPair: pool, pid: 1n },
      { pool, tickSpacing: 25 },
    ],
    [
      1,
      'Uniswap v4',
      'Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)',
      {
        id,
        currency0: token0,
        currency1: token1,
        fee: 500,
        tickSpacing: 10,
        hooks: addressOf(0xc0),
        sqrtPriceX96: 1n,
        tick: 0,
      },
      { pool: id, fee: 500, tickSpacing: 10, hooks: addressOf(0xc0) },
    ],
    [
      56,
      'PancakeSwap Infinity',
      'Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, address hooks, uint24 fee, bytes32 parameters, uint160 sqrtPriceX96, int24 tick)',
      {
        id,
        currency0: token0,
        currency1: token1,
        hooks: addressOf(0),
        fee: 500,
        parameters: `0x${(10n << 16n).toString(16).padStart(64, '0')}`,
        sqrtPriceX96: 1n,
        tick: 0,
      },
      { pool: id, fee: 500, tickSpacing: 10, hooks: null },
    ],
  ])('chain %d, %s', (chainId, name, declaration, args, expected) => {
    const chain = knownExchanges(chainId);
    const proven = decodePoolCreation(exampleLog(declaration, args, factoryOf(chainId, name)), chain);
    expect(proven).toMatchObject({ tokens: [token0, token1], exchange: { name }, ...expected });
    expect(decodePoolCreation(exampleLog(declaration, args, addressOf(0xbad)), chain)).toBeNull();
  });
});

describe('an address proves a pool', () => {
  const known = parseAddress('0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640');

  test('if a factory creates it there, whatever the order of the tokens', () => {
    const expected = { exchange: { name: 'Uniswap v3' }, tokens: [USDC, WETH], fee: 500 };
    expect(recomputePool(known, [USDC, WETH], knownExchanges(1))).toMatchObject(expected);
    expect(recomputePool(known, [WETH, USDC], knownExchanges(1))).toMatchObject(expected);
  });

  // Pools that exist under these addresses: each rule of an address is right for one of them.
  test.each([
    [
      8453,
      'Aerodrome',
      '0xcdac0d6c6c59727a65f871236188350531885c43',
      '0x4200000000000000000000000000000000000006',
      '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      { isStable: false },
    ],
    [
      8453,
      'Aerodrome Slipstream',
      '0xb2cc224c1c9fee385f8ad6a55b4d94e92359dc59',
      '0x4200000000000000000000000000000000000006',
      '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      { tickSpacing: 100 },
    ],
    [
      10,
      'Velodrome',
      '0x79c912fef520be002c2b6e57ec4324e260f38e50',
      '0x4200000000000000000000000000000000000006',
      '0x7f5c764cbc14f9669b88837ca1490cca17c31607',
      { isStable: false },
    ],
    [
      56,
      'PancakeSwap v2',
      '0x16b9a82891338f9ba80e2d6970fdda79d1eb0dae',
      '0x55d398326f99059ff775485246999027b3197955',
      '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c',
      {},
    ],
    [
      56,
      'PancakeSwap v3',
      '0x36696169c63e42cd08ce11f5deebbcebae652050',
      '0x55d398326f99059ff775485246999027b3197955',
      '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c',
      { fee: 500 },
    ],
  ])('on chain %d, %s', (chainId, name, address, one, other, facts) => {
    const tokens = [parseAddress(one), parseAddress(other)] as const;
    expect(recomputePool(parseAddress(address), tokens, knownExchanges(chainId))).toMatchObject({
      exchange: { name },
      ...facts,
    });
  });

  test('not with other tokens, on another chain, or of another contract', () => {
    expect(recomputePool(known, [USDC, token1], knownExchanges(1))).toBeNull();
    expect(recomputePool(known, [USDC, WETH], knownExchanges(25))).toBeNull();
    expect(recomputePool(pool, [USDC, WETH], knownExchanges(1))).toBeNull();
  });
});
