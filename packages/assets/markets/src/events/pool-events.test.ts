import { readFileSync } from 'node:fs';
import { type Address, type Hash, type Hex, parseAddress, parseHash } from '@chainstead/core';
import { addressOf, recordedData } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withCustomExchanges } from '../exchanges/custom-exchanges.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { exampleLog } from '../testing/example-log.ts';
import { decodePoolEvent, poolEvents } from './decode-pool-event.ts';

const FACTS = recordedData('contract/dexes.json');
const MANAGER = addressOf(0x44);
const POOL = addressOf(0x55);
const VAULTS = new Map([[MANAGER, '']]);
const ID = parseHash(`0x${'ab'.repeat(32)}`);
const SQRT_ONE = 2n ** 96n;

describe.skipIf(FACTS.isMissing)(FACTS.title('layouts'), () => {
  interface Fact {
    readonly family: string;
    readonly role: string;
    readonly topic0: string;
    readonly topics: number;
    readonly data_words: number;
  }
  const facts: readonly Fact[] = FACTS.isMissing ? [] : JSON.parse(readFileSync(FACTS.folder, 'utf8')).events;
  /** Not decoded: GMX shares the topic of Balancer v3; fees and flash loans change no price; a flow of Collect is no trade. */
  const swaps = facts.filter(({ family, role }) => role === 'swap' && family !== 'gmx');

  test.each(swaps)('$family $topic0', ({ topic0, topics, data_words: words }) => {
    const inputs = poolEvents.find(({ topic }) => topic === topic0)?.abi.inputs ?? [];
    const indexed = inputs.filter(({ isIndexed }) => isIndexed).length;
    expect({ topics: 1 + indexed, words: inputs.length - indexed }).toEqual({ topics, words });
  });
});

test('every event has a topic of its own', () => {
  expect(new Set(poolEvents.map(({ topic }) => topic)).size).toBe(poolEvents.length);
});

describe('pools of a manager', () => {
  const SWAP =
    'Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)';
  const args = {
    id: ID,
    sender: POOL,
    amount0: -5n,
    amount1: 7n,
    sqrtPriceX96: SQRT_ONE,
    liquidity: 9n,
    tick: -3,
    fee: 500,
  };

  test('a swap of Uniswap v4 has the sign of the caller, which is turned', () => {
    expect(decodePoolEvent(exampleLog(SWAP, args, MANAGER), VAULTS)).toEqual({
      kind: 'swap',
      pool: ID,
      amounts: { of: 'sides', amount0: 5n, amount1: -7n },
      state: { of: 'price', sqrtPriceX96: SQRT_ONE, liquidity: 9n, tick: -3 },
    });
  });

  test('a second manager of a family has its own pools of equal ids', () => {
    const second = addressOf(0x5ec);
    const { vaults } = withCustomExchanges(31_337, [
      { family: 'v4', factory: MANAGER },
      { family: 'infinity', factory: POOL },
      { family: 'v4', factory: second },
    ]);
    const poolAt = (manager: Address) => decodePoolEvent(exampleLog(SWAP, args, manager), vaults)?.pool;
    expect([MANAGER, POOL, second].map(poolAt)).toEqual([ID, ID, `${ID}${second.slice(2)}`]);
    expect(poolKey(poolAt(second) ?? '0x')).not.toBe(poolKey(ID));
  });

  test('another contract with the same events has no pools', () => {
    expect(decodePoolEvent(exampleLog(SWAP, args, POOL), VAULTS)).toBeNull();
  });

  test('PancakeSwap Infinity has a swap by price and a swap by bin', () => {
    const byPrice = `${SWAP.slice(0, -1)}, uint16 protocolFee)`;
    const byBin =
      'Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint24 activeId, uint24 fee, uint16 protocolFee)';
    expect(decodePoolEvent(exampleLog(byPrice, { ...args, protocolFee: 1 }, MANAGER), VAULTS)).toMatchObject({
      amounts: { amount0: 5n, amount1: -7n },
      state: { sqrtPriceX96: SQRT_ONE },
    });
    expect(
      decodePoolEvent(exampleLog(byBin, { ...args, activeId: 8_388_608, protocolFee: 1 }, MANAGER), VAULTS),
    ).toMatchObject({
      amounts: { amount0: 5n, amount1: -7n },
      state: { of: 'bin', activeId: 8_388_608 },
    });
  });

  test('a change of liquidity has its ticks, and none by 0', () => {
    const declaration =
      'ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)';
    const change = (liquidityDelta: bigint) =>
      decodePoolEvent(
        exampleLog(
          declaration,
          { id: ID, sender: POOL, tickLower: -60, tickUpper: 60, liquidityDelta, salt: ID },
          MANAGER,
        ),
        VAULTS,
      );
    expect(change(-4n)).toEqual({
      kind: 'liquidity',
      pool: ID,
      change: 'remove',
      amounts: null,
      range: { tickLower: -60, tickUpper: 60, liquidityDelta: -4n },
    });
    expect(change(4n)).toMatchObject({ change: 'add' });
    expect(change(0n)).toBeNull();
  });

  test('the first price comes without liquidity', () => {
    const declaration =
      'Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)';
    const log = exampleLog(
      declaration,
      {
        id: ID,
        currency0: addressOf(0),
        currency1: POOL,
        fee: 500,
        tickSpacing: 10,
        hooks: addressOf(0),
        sqrtPriceX96: SQRT_ONE,
        tick: 0,
      },
      MANAGER,
    );
    expect(decodePoolEvent(log, VAULTS)).toEqual({
      kind: 'state',
      pool: ID,
      state: { of: 'price', sqrtPriceX96: SQRT_ONE, liquidity: 0n, tick: 0 },
    });
  });

  test('Balancer names its tokens', () => {
    const second =
      'Swap(bytes32 indexed poolId, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut)';
    const third =
      'Swap(address indexed pool, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut, uint256 swapFeePercentage, uint256 swapFeeAmount)';
    const traded = { tokenIn: addressOf(1), tokenOut: addressOf(2), amountIn: 10n, amountOut: 20n };
    const amounts = { of: 'tokens', ...traded };
    expect(decodePoolEvent(exampleLog(second, { poolId: ID, ...traded }, MANAGER), VAULTS)).toMatchObject({
      pool: ID,
      amounts,
    });
    const thirdArgs = { pool: POOL, ...traded, swapFeePercentage: 1n, swapFeeAmount: 1n };
    expect(decodePoolEvent(exampleLog(third, thirdArgs, MANAGER), VAULTS)).toMatchObject({ pool: POOL, amounts });
  });
});

describe('Liquidity Book', () => {
  const pack = (x: bigint, y: bigint): Hex => `0x${((y << 128n) | x).toString(16).padStart(64, '0')}`;

  test('amounts of a bin are X below Y, with the protocol fee that they leave out', () => {
    const declaration =
      'Swap(address indexed sender, address indexed to, uint24 id, bytes32 amountsIn, bytes32 amountsOut, uint24 volatilityAccumulator, bytes32 totalFees, bytes32 protocolFees)';
    const log = exampleLog(
      declaration,
      {
        sender: POOL,
        to: POOL,
        id: 8_388_600,
        amountsIn: pack(1_000n, 0n),
        amountsOut: pack(0n, 400n),
        volatilityAccumulator: 0,
        totalFees: pack(10n, 0n),
        protocolFees: pack(3n, 0n),
      },
      POOL,
    );
    expect(decodePoolEvent(log, VAULTS)).toEqual({
      kind: 'swap',
      pool: POOL,
      amounts: { of: 'sides', amount0: 1_003n, amount1: -400n },
      state: { of: 'bin', activeId: 8_388_600 },
    });
  });

  test.each([true, false])('the first version says whether X is paid: %s', (swapForY) => {
    const declaration =
      'Swap(address indexed sender, address indexed recipient, uint256 indexed id, bool swapForY, uint256 amountIn, uint256 amountOut, uint256 volatilityAccumulated, uint256 fees)';
    const log = exampleLog(
      declaration,
      {
        sender: POOL,
        recipient: POOL,
        id: 8_388_600n,
        swapForY,
        amountIn: 1_000n,
        amountOut: 400n,
        volatilityAccumulated: 0n,
        fees: 3n,
      },
      POOL,
    );
    const amounts = swapForY ? { amount0: 1_003n, amount1: -400n } : { amount0: -400n, amount1: 1_003n };
    expect(decodePoolEvent(log, VAULTS)).toMatchObject({ amounts, state: { activeId: 8_388_600 } });
  });
});

describe('events that name their tokens', () => {
  const [from, to] = [addressOf(1), addressOf(2)];
  test.each([
    [
      'DODO',
      'DODOSwap(address fromToken, address toToken, uint256 fromAmount, uint256 toAmount, address trader, address receiver)',
      { fromToken: from, toToken: to, fromAmount: 10n, toAmount: 20n, trader: POOL, receiver: POOL },
      { tokenIn: from, tokenOut: to, amountIn: 10n, amountOut: 20n },
    ],
    [
      'Mooniswap',
      'Swapped(address indexed sender, address indexed receiver, address indexed srcToken, address dstToken, uint256 amount, uint256 result, uint256 srcAdditionBalance, uint256 dstRemovalBalance, uint256 totalSupply, address referral)',
      {
        sender: POOL,
        receiver: POOL,
        srcToken: from,
        dstToken: to,
        amount: 10n,
        result: 20n,
        srcAdditionBalance: 1n,
        dstRemovalBalance: 1n,
        totalSupply: 1n,
        referral: POOL,
      },
      { tokenIn: from, tokenOut: to, amountIn: 10n, amountOut: 20n },
    ],
    [
      'Uniswap v1',
      'TokenPurchase(address indexed buyer, uint256 indexed eth_sold, uint256 indexed tokens_bought)',
      { buyer: POOL, eth_sold: 10n, tokens_bought: 20n },
      { tokenIn: addressOf(0), tokenOut: null, amountIn: 10n, amountOut: 20n },
    ],
    [
      'Curve',
      'TokenExchange(address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id, uint256 tokens_bought)',
      { buyer: POOL, sold_id: 0n, tokens_sold: 10n, bought_id: 1n, tokens_bought: 20n },
      { tokenIn: null, tokenOut: null, amountIn: 10n, amountOut: 20n },
    ],
  ])('%s', (_name, declaration, args, amounts) => {
    expect(decodePoolEvent(exampleLog(declaration, args, POOL), VAULTS)).toEqual({
      kind: 'swap',
      pool: POOL,
      amounts: { of: 'tokens', ...amounts },
      state: null,
    });
  });
});

test('hostile topics and data are no event, or one within its types', () => {
  const word = fc.oneof(
    fc.constant(`0x${'f'.repeat(64)}`),
    fc.constant(`0x${'0'.repeat(64)}`),
    fc.bigInt(0n, 2n ** 256n - 1n).map((value) => `0x${value.toString(16).padStart(64, '0')}`),
  );
  const log = fc.record({
    address: fc.constantFrom(MANAGER, parseAddress(POOL)),
    topics: fc
      .tuple(fc.constantFrom(...poolEvents.map(({ topic }) => topic)), fc.array(word, { maxLength: 3 }))
      .map((all) => all.flat() as Hash[]),
    data: fc
      .array(word, { maxLength: 8 })
      .map((words) => `0x${words.map((one) => one.slice(2)).join('')}` as Hex),
  });
  fc.assert(
    fc.property(log, (hostile) => {
      const event = decodePoolEvent(hostile, VAULTS);
      if (event?.kind !== 'swap' || event.state?.of !== 'price') return;
      expect(event.state.sqrtPriceX96).toBeLessThan(2n ** 160n);
      expect(event.state.liquidity).toBeLessThan(2n ** 128n);
      expect(Math.abs(event.state.tick)).toBeLessThanOrEqual(2 ** 23);
    }),
    { numRuns: 2_000 },
  );
});
