/** Wallets with the highest profit in a token: order, roles, windows, the native token, limits, and refusals. */

import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { seedPools } from '@chainstead/markets/testing';
import { addressOf } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import {
  ANN,
  BOB,
  BOT,
  CATS,
  cats,
  DOGS,
  dollars,
  eth,
  ether,
  HEAD,
  type Json,
  profitRoutesOfFile,
  seedDollars,
  seedTrades,
  USDC,
  WETH,
} from './testing/profit-stage.ts';
import { readTopGainers } from './top-gainers.ts';

const { scratch, get: request } = profitRoutesOfFile();
const get = (token: string, query = '') => request(`erc20/${token}/top-gainers?${query}`);

/** A purchase of CATS for 1 dollar and its sale. */
const round = (block: number, wallet: Address, received: number) => [
  { block, wallet, gave: dollars(1), got: cats(1) },
  { block: block + 1, wallet, gave: cats(1), got: dollars(received) },
];

test('wallets with a profit are listed by it, with exact figures', async () => {
  await seedTrades(scratch.database, [...round(10, ANN, 2), ...round(20, BOB, 4), ...round(30, BOT, 0.5)]);
  const figures = {
    ...{ total_tokens_bought: '1', total_tokens_sold: '1', total_usd_invested: '1', avg_buy_price_usd: '1' },
    ...{ avg_cost_of_quantity_sold: '1', count_of_trades: 2, total_buys: 1, total_sells: 1 },
  };
  expect(await get(CATS)).toEqual({
    status: 200,
    body: {
      indexed: { from_block: '0', to_block: String(HEAD), complete: true },
      ...{ name: 'CATS token', symbol: 'CATS', decimals: 6, logo: null, possible_spam: false },
      result: [
        {
          ...{ address: BOB, ...figures, total_sold_usd: '4', avg_sell_price_usd: '4' },
          ...{ realized_profit_usd: '3', realized_profit_percentage: 300 },
        },
        {
          ...{ address: ANN, ...figures, total_sold_usd: '2', avg_sell_price_usd: '2' },
          ...{ realized_profit_usd: '1', realized_profit_percentage: 100 },
        },
      ],
    },
  });
});

test('a trade counts for its sender and its beneficiary, once each', async () => {
  await seedTrades(scratch.database, [
    { block: 10, wallet: BOT, beneficiary: ANN, gave: dollars(1), got: cats(1) },
    { block: 11, wallet: ANN, beneficiary: ANN, gave: cats(1), got: dollars(6) },
  ]);
  expect((await get(CATS)).body.result).toMatchObject([
    { address: ANN, realized_profit_usd: '5', count_of_trades: 2 },
  ]);
});

test('the native token counts against dollar tokens, with its own pools', async () => {
  await seedDollars(scratch.database, 'ETH', 9, 2_000n);
  const native = addressOf(0x9ff);
  await seedPools(scratch.database, eth, [
    { pool: native, tokens: [addressOf(0), USDC] },
    { pool: addressOf(0x9fe), tokens: [addressOf(0), WETH] },
  ]);
  const coins = (amount: number) => [ether(amount)[0], addressOf(0)] as const;
  await seedTrades(scratch.database, [
    { block: 10, gave: dollars(2_000), got: coins(1_000), pool: native },
    { block: 11, gave: coins(1_000), got: ether(1_000), pool: addressOf(0x9fe) },
    { block: 12, gave: ether(1_000), got: dollars(2_500) },
    { block: 13, gave: ether(10), got: cats(1) },
  ]);
  for (const form of [WETH, addressOf(0)])
    expect((await get(form)).body).toMatchObject({
      ...{ symbol: 'WETH', decimals: 18, indexed: { complete: true } },
      result: [{ address: ANN, count_of_trades: 2, realized_profit_usd: '500' }],
    });
});

test('a dollar token and an unknown token have none', async () => {
  await seedTrades(scratch.database, round(10, ANN, 2));
  expect((await get(USDC)).body.result).toEqual([]);
  expect((await get(addressOf(0x404))).body).toEqual({
    indexed: { from_block: '0', to_block: String(HEAD), complete: true },
    ...{ name: null, symbol: null, decimals: null, logo: null, possible_spam: false, result: [] },
  });
});

test('a window counts its trades only', async () => {
  await seedDollars(scratch.database, 'USDC', 59_000, 1n);
  await seedTrades(scratch.database, [...round(10, ANN, 9), ...round(60_000, BOB, 2)]);
  expect((await get(CATS, 'days=7')).body.result).toMatchObject([{ address: BOB }]);
  expect((await get(CATS, 'days=30')).body.result).toMatchObject([{ address: ANN }, { address: BOB }]);
});

test('trades without a value, and pools without a proof, make it incomplete', async () => {
  const isComplete = async () => ((await get(CATS)).body.indexed as Json).complete;
  await seedTrades(scratch.database, round(10, ANN, 2));
  expect(await isComplete()).toBe(true);
  await seedPools(scratch.database, eth, [{ pool: addressOf(0xfa1), tokens: [CATS, USDC], status: 'unproven' }]);
  expect(await isComplete()).toBe(false);
  await scratch.database.query(sql`DELETE FROM pools WHERE status = 'unproven'`);
  await seedTrades(scratch.database, [{ block: 20, gave: cats(1), got: [1n, DOGS] }]);
  expect(await isComplete()).toBe(false);
  expect((await get(CATS)).body.result).toMatchObject([{ address: ANN, count_of_trades: 2 }]);
});

test('only the newest trades count, and only the first wallets are listed', async () => {
  await seedTrades(scratch.database, [...round(10, ANN, 9), ...round(20, BOB, 4), ...round(30, BOT, 2)]);
  const read = async (limits: { readonly tradesMax: number; readonly walletsMax: number }) => {
    const { wallets, indexed } = await readTopGainers(scratch.database, eth, { token: CATS, days: null }, limits);
    return [wallets.map(({ wallet }) => wallet), indexed.complete];
  };
  expect(await read({ tradesMax: 6, walletsMax: 2 })).toEqual([[ANN, BOB], true]);
  expect(await read({ tradesMax: 5, walletsMax: 3 })).toEqual([[BOB, BOT], false]);
  expect(await read({ tradesMax: 2, walletsMax: 3 })).toEqual([[BOT], false]);
});

test.each(['60', '90', 'week', '-7', ''])('days=%s is refused', async (given) => {
  const allowed = 'all, 7 or 30';
  expect(await get(CATS, `days=${given}`)).toEqual({
    status: 400,
    body: {
      message: `days must be ${allowed}, "${given}" was given`,
      details: { errors: [{ parameter: 'days', given, allowed }] },
    },
  });
});
