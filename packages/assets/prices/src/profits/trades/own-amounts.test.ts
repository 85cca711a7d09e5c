import { parseAddress } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  ANN,
  BOB,
  CATS,
  cats,
  DOGS,
  dollars,
  eth,
  type Json,
  profitRoutesOfFile,
  seedMoves,
  seedTrades,
  USDC,
  WETH,
} from '../testing/profit-stage.ts';
import { type Moves, ownAmounts } from './own-amounts.ts';
import { readTrades } from './read-trades.ts';

const { scratch, get } = profitRoutesOfFile();
const [POOL, FEES, ROUTER] = [addressOf(0x9a1), addressOf(0xfee), addressOf(0x407)];
const dogs = (amount: number) => [BigInt(amount) * 10n ** 18n, DOGS] as const;

const profitsOf = async (wallet: string) =>
  (await get(`wallets/${wallet}/profitability`)).body.result as readonly Json[];

describe('a token that takes 2 % of each transfer', () => {
  beforeEach(async () => {
    await seedTrades(scratch.database, [
      { block: 10, transaction: 1, gave: dollars(100), got: cats(100) },
      { block: 20, transaction: 2, gave: cats(96.04), got: dollars(147) },
    ]);
    await seedMoves(scratch.database, [
      { block: 10, transaction: 1, counterparty: POOL, sent: dollars(100) },
      { block: 10, transaction: 1, counterparty: POOL, received: cats(98) },
      { block: 20, transaction: 2, counterparty: POOL, sent: cats(96.04) },
      { block: 20, transaction: 2, counterparty: FEES, sent: cats(1.96) },
      { block: 20, transaction: 2, counterparty: POOL, received: dollars(147) },
      // Another transaction of the block is none of the trade.
      { block: 20, transaction: 3, counterparty: BOB, sent: cats(50) },
    ]);
  });

  test('is bought and sold with what the wallet received and sent', async () => {
    expect(await profitsOf(ANN)).toMatchObject([
      {
        ...{ token_address: CATS, total_tokens_bought: '98', total_tokens_sold: '98' },
        ...{ total_usd_invested: '100', total_sold_usd: '147', realized_profit_usd: '47' },
        avg_sell_price_usd: '1.5',
      },
    ]);
  });

  test('has the same profit among the gainers', async () => {
    const gainers = (await get(`erc20/${CATS}/top-gainers`)).body.result as readonly Json[];
    expect(gainers).toMatchObject([{ address: ANN, total_tokens_bought: '98', total_tokens_sold: '98' }]);
  });

  test('has a later sale without a cost: nothing of it is left', async () => {
    await seedTrades(scratch.database, [{ block: 30, gave: cats(1), got: dollars(5) }]);
    expect(await profitsOf(ANN)).toMatchObject([{ total_tokens_sold: '99', realized_profit_usd: '47' }]);
  });
});

test('a rebasing token that rounds in each transfer keeps no cost, and what it grew by has none', async () => {
  const units = (amount: bigint) => [amount, CATS] as const;
  await seedTrades(scratch.database, [
    { block: 10, transaction: 1, gave: dollars(100), got: units(1_000_000n) },
    { block: 20, transaction: 2, gave: units(1_100_000n), got: dollars(220) },
  ]);
  await seedMoves(scratch.database, [
    { block: 10, transaction: 1, counterparty: POOL, sent: dollars(100) },
    { block: 10, transaction: 1, counterparty: POOL, received: units(1_000_000n - 1n) },
    { block: 20, transaction: 2, counterparty: POOL, sent: units(1_100_000n - 1n) },
    { block: 20, transaction: 2, counterparty: POOL, received: dollars(220) },
  ]);
  expect(await profitsOf(ANN)).toMatchObject([
    { total_tokens_bought: '0.999999', total_usd_invested: '100', total_sold_usd: '220' },
  ]);
});

test('a token in between costs what reached the next pool, in parts of any size', async () => {
  await seedTrades(scratch.database, [
    { block: 10, transaction: 1, gave: dollars(100), got: cats(100) },
    { block: 10, transaction: 1, gave: cats(98), got: dogs(1) },
    { block: 30, transaction: 1, gave: cats(1), got: dollars(5) },
  ]);
  await seedMoves(scratch.database, [
    { block: 10, transaction: 1, counterparty: ROUTER, sent: dollars(100) },
    { block: 10, transaction: 1, counterparty: ROUTER, received: dogs(1) },
  ]);
  const read = async (part: number) => {
    const found = [];
    const reading = { subject: { kind: 'wallet', wallet: ANN }, firstBlock: 0, lastBlock: 100, part } as const;
    for await (const { trades } of readTrades(scratch.database, eth, reading)) found.push(...trades);
    return found.map(({ parties }) => parties.map(({ amounts }) => amounts[0]));
  };
  expect(await read(100)).toEqual([[98_000_000n], [98_000_000n], [1_000_000n]]);
  for (const part of [1, 2, 3]) expect(await read(part), String(part)).toEqual(await read(100));
});

describe('amounts of the pool stay', () => {
  const sale = { pool: { token0: CATS, token1: USDC }, address: POOL, isSold0: true, amount0: 60n, amount1: 90n };
  const movesOf = (...entries: readonly (readonly [string, bigint, bigint, string[]])[]): Moves =>
    new Map(
      entries.map(([token, received, sent, recipients]) => [
        parseAddress(token),
        { received, sent, recipients: new Set(recipients.map(parseAddress)) },
      ]),
    );

  test.each<[string, Moves, readonly [bigint, bigint]]>([
    ['without transfers of the wallet', movesOf(), [60n, 90n]],
    ['if other pools took a part of a sale', movesOf([CATS, 0n, 100n, [POOL]], [USDC, 150n, 0n, []]), [60n, 90n]],
    ['if a router took the tokens for native ones', movesOf([CATS, 0n, 100n, [ROUTER]]), [60n, 90n]],
    ['if the wallet sent a part', movesOf([CATS, 0n, 20n, [POOL]], [USDC, 90n, 0n, []]), [60n, 90n]],
    ['if another account received', movesOf([CATS, 0n, 60n, [POOL]]), [60n, 90n]],
    ['not for a fee on the way in', movesOf([CATS, 0n, 70n, [POOL, FEES]]), [70n, 90n]],
    ['not for a fee on the way out', movesOf([CATS, 0n, 60n, [ROUTER]], [USDC, 80n, 0n, []]), [60n, 80n]],
  ])('%s', (_, moves, amounts) => {
    expect(ownAmounts([sale], moves)).toEqual([amounts]);
  });

  test('not of a purchase in two pools, which share what arrived', () => {
    const bought = { pool: { token0: CATS, token1: WETH }, address: POOL, isSold0: false, amount1: 5n };
    const trades = [
      { ...bought, amount0: 30n },
      { ...bought, amount0: 70n },
    ];
    const shared = ownAmounts(trades, movesOf([CATS, 91n, 0n, []]));
    expect(shared.map(([amount]) => amount)).toEqual([27n, 64n]);
  });
});
