/** Swaps of some families, from the logs of their transactions to the lists. */
import { ZERO_ADDRESS } from '@chainstead/core';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';
import { hashOf } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import type { PoolId } from '../events/pool-event.ts';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { swapRows } from '../swaps/swap-rows.ts';
import { exampleLog } from '../testing/example-log.ts';
import { seedPools } from './testing/seeded-swaps.ts';
import { ALICE, BOB, CAT, CATS, ETHER, eth, PAIR, swapListsOfFile, WETH } from './testing/swap-lists-of-file.ts';

const { scratch, get, seed } = swapListsOfFile();

/** A transaction with these logs, as the engine hands it to the dataset. */
function transaction(blockNumber: number, logs: readonly ReturnType<typeof exampleLog>[]): ExecutedTransaction {
  const place = { blockNumber, transactionIndex: 0, transactionHash: hashOf(2, blockNumber * 1_000) };
  return {
    ...{ hash: place.transactionHash, from: ALICE, to: BOB, value: 0n },
    logs: logs.map((log, logIndex) => ({
      ...log,
      ...place,
      logIndex,
      blockHash: hashOf(1, blockNumber),
      blockTimestamp: null,
    })),
  } as unknown as ExecutedTransaction;
}

describe('decoded transactions', () => {
  test('a swap of the native token in Uniswap v4 is listed for the wrapped one, and by the id of its pool', async () => {
    const manager =
      exchangesOf(eth).all.find(({ exchange }) => exchange.name === 'Uniswap v4')?.deployment.factory ?? BOB;
    const pool: PoolId = `0x${'4d'.repeat(32)}`;
    await seedPools(scratch.database, eth, [
      { pool, tokens: [ZERO_ADDRESS, CATS], exchange: 'Uniswap v4', factory: manager },
    ]);
    const log = exampleLog(
      'Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)',
      {
        id: pool,
        sender: BOB,
        amount0: -ETHER,
        amount1: 2_000n * CAT,
        sqrtPriceX96: 1n << 96n,
        liquidity: 9n,
        tick: 0,
        fee: 500,
      },
      manager,
    );
    await seed(...swapRows(transaction(8, [log]), eth));
    const ofPair = await get(`/pairs/${pool.toUpperCase().replace('0X', '0x')}/swaps`);
    expect(ofPair.body).toMatchObject({
      pairAddress: pool,
      pairLabel: 'CATS/ETH',
      quoteToken: { address: WETH, symbol: 'ETH', name: 'Ether', amount: null },
      result: [
        { transactionType: 'buy', baseTokenAmount: '2000', quoteTokenAmount: '1', baseQuotePrice: '0.0005' },
      ],
    });
    expect((await get(`/erc20/${WETH}/swaps`)).body.result).toMatchObject([
      { pairAddress: pool, transactionType: 'sell', sold: { address: WETH, amount: '1' }, quoteToken: WETH },
    ]);
    expect((await get(`/wallets/${ALICE}/swaps?tokenAddress=${WETH}`)).body.result).toMatchObject([
      { blockNumber: 8 },
    ]);
  });

  test('a swap over several bins of Liquidity Book is one row', async () => {
    // Token X is the higher address here.
    await seedPools(scratch.database, eth, [{ pool: PAIR, tokens: [WETH, CATS], exchange: 'Trader Joe' }]);
    const bin = (id: number, x: bigint, y: bigint) =>
      exampleLog(
        'Swap(address indexed sender, address indexed recipient, uint256 indexed id, bool swapForY, uint256 amountIn, uint256 amountOut, uint256 volatilityAccumulated, uint256 fees)',
        {
          sender: BOB,
          recipient: BOB,
          id: BigInt(id),
          swapForY: true,
          amountIn: x,
          amountOut: y,
          volatilityAccumulated: 0n,
          fees: 0n,
        },
        PAIR,
      );
    await seed(...swapRows(transaction(9, [bin(8_388_608, ETHER, 3n * CAT), bin(8_388_607, ETHER, CAT)]), eth));
    expect((await get(`/pairs/${PAIR}/swaps`)).body).toMatchObject({
      pairLabel: 'CATS/WETH',
      result: [
        {
          transactionType: 'buy',
          baseTokenAmount: '4',
          quoteTokenAmount: '2',
          baseQuotePrice: '0.5',
          logIndex: 0,
        },
      ],
    });
  });
});
