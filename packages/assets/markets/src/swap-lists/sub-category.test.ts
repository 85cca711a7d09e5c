import type { Address } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { seedTransfers } from '@chainstead/erc20/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { cover } from './testing/seeded-swaps.ts';
import {
  ALICE,
  BOB,
  BUY,
  CAT,
  CATS,
  ETHER,
  eth,
  PAIR,
  SELL,
  swap,
  swapListsOfFile,
  WETH,
} from './testing/swap-lists-of-file.ts';

const { scratch, get, seed, seedPair } = swapListsOfFile();

describe('the position of a trader', () => {
  const move = (token: Address, from: Address, to: Address, value: bigint, blockNumber: number) => ({
    ...{ token, from, to, value, blockNumber, transactionIndex: 3, logIndex: token === CATS ? 1 : 2 },
  });
  const bought = (blockNumber: number, trader = ALICE) => [
    move(CATS, PAIR, trader, 1_500n * CAT, blockNumber),
    move(WETH, trader, PAIR, ETHER / 2n, blockNumber),
  ];
  const sold = (blockNumber: number, value: bigint) => [
    move(CATS, ALICE, PAIR, value, blockNumber),
    move(WETH, PAIR, ALICE, ETHER, blockNumber),
  ];
  const categories = async (path: string) =>
    (await get(path)).body.result.map(({ blockNumber, subCategory }) => [blockNumber, subCategory]);
  const ALL = [
    [7, null],
    [6, 'newPosition'],
    [5, 'sellAll'],
    [4, 'partialSell'],
    [3, 'accumulation'],
    [2, 'newPosition'],
  ];

  beforeEach(async () => {
    await seedPair();
    await seedTransfers(scratch.database, eth, [
      ...[bought(2), bought(3), sold(4, 1_000n * CAT), sold(5, 2_000n * CAT), bought(6, BOB)].flat(),
    ]);
    await seed(
      ...[2, 3].map((blockNumber) => swap({ ...BUY, blockNumber, transactionIndex: 3 })),
      ...[4, 5].map((blockNumber) => swap({ ...SELL, blockNumber, transactionIndex: 3 })),
      swap({ ...BUY, blockNumber: 6, transactionIndex: 3, beneficiary: BOB }),
      swap({ ...BUY, blockNumber: 7, kind: 1, amount0: '1', amount1: '1' }),
    );
    await cover(scratch.database, eth, 'erc20-transfers', 100);
  });

  test('follows from the balance before a purchase and after a sale, in every list', async () => {
    expect(await categories(`/pairs/${PAIR}/swaps`)).toEqual(ALL);
    for (const path of [`/erc20/${CATS}/swaps`, `/wallets/${ALICE}/swaps`])
      expect(await categories(path)).toEqual(ALL.slice(1));
  });

  test('is unknown without the transfers of every earlier block, and for wrapped tokens without their deposits', async () => {
    const weth = `/wallets/${ALICE}/swaps?tokenAddress=${WETH}`;
    expect(await categories(weth)).toEqual([6, 5, 4, 3, 2].map((block) => [block, null]));
    await cover(scratch.database, eth, 'wrapped-coin-moves', 100);
    await scratch.database.query(
      sql`UPDATE erc20_transfer_sides SET value = 5 * 10::numeric ^ 18 WHERE token = ${hexBytes(WETH)} AND block_number = 4`,
    );
    // Bob paid for the last one, and without enough transfers in, the first balances would be below zero.
    expect(await categories(weth)).toEqual([
      [6, null],
      [5, 'accumulation'],
      ...[4, 3, 2].map((block) => [block, null]),
    ]);
    await scratch.database.query(sql`UPDATE sync_ranges SET first_block = 1 WHERE dataset = 'erc20-transfers'`);
    expect(await categories(`/erc20/${CATS}/swaps`)).toEqual([6, 5, 4, 3, 2].map((block) => [block, null]));
  });
});
