/** Balances of the wrapped native token of an in-memory chain, depending on the indexed deposits and withdrawals. */
import { ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import {
  ALICE,
  type BalanceStage,
  BOB,
  balanceStages,
  gives,
  nameInList,
} from '../balances/testing/balance-stage.ts';
import type { Move } from '../balances/testing/token-chain.ts';

const COIN = addressOf(0xc014);
const OTHER = addressOf(0x07e);

const stages = balanceStages(1_500_001);
const stageOf: typeof stages.open = (options) => stages.open({ facts: { wrappedNative: COIN }, ...options });

const deposits = (value: bigint): Move => ({ token: COIN, from: ZERO_ADDRESS, to: ALICE, value });
const withdraws = (value: bigint): Move => ({ token: COIN, from: ALICE, to: ZERO_ADDRESS, value });
const sends = (value: bigint): Move => ({ token: COIN, from: ALICE, to: BOB, value });
const callsOf = ({ nodes }: BalanceStage): number => nodes.reduce((sum, { calls }) => sum + calls, 0);

describe('where deposits and withdrawals are indexed as transfers are', () => {
  test('the coin is a token like others: asked once, and then what moved', async () => {
    const stage = await stageOf();
    await stage.mine([deposits(50n)]);
    expect(await stage.shown()).toEqual([`${COIN} 50 1`]);
    await stage.mine([deposits(10n), withdraws(5n), sends(1n)]);
    expect(await stage.shown()).toEqual([`${COIN} 54 2`]);
    expect(await stage.classes()).toEqual({ [COIN]: 'sum' });
    const calls = callsOf(stage);
    await stage.mine([withdraws(4n)]);
    await stage.age(1);
    expect(await stage.shown()).toEqual([`${COIN} 50 3`]);
    expect(await stage.shown({ toBlock: 1 })).toEqual([`${COIN} 50 1`]);
    expect(await stage.shown({ toBlock: 2, tokens: [COIN] })).toEqual([`${COIN} 54 2`]);
    expect(callsOf(stage)).toBe(calls);
    await stage.mine([withdraws(50n)]);
    expect(await stage.report()).toMatchObject({ isComplete: true, balances: [] });
  });

  test('keeps its place in pages while blocks arrive, by its newest settled deposit', async () => {
    const stage = await stageOf();
    await stage.mine([deposits(50n)]);
    await stage.mine([gives(OTHER, 5n)]);
    for (let block = 0; block < 4; block++) await stage.mine();
    const order = { pinned: 6, depth: 2, after: null } as const;
    const placed = async () => {
      const { balances } = await stage.report({ order, tokens: null });
      return balances.map(({ token, place }) => [token, place]);
    };
    const before = await placed();
    expect(before).toEqual([
      [OTHER, [2, 0, 0]],
      [COIN, [1, 0, 0]],
    ]);
    await stage.mine([deposits(1n)]);
    expect(await placed()).toEqual(before);
  });
});

describe('where they are indexed from a later block on than transfers are', () => {
  test('a read at a later block is followed; before it, the contract is read each time', async () => {
    const stage = await stageOf({ isCoinIndexed: false });
    await stage.mine([deposits(50n)]);
    expect(await stage.shown()).toEqual([`${COIN} 50 1`]);
    await stage.mine([deposits(5n)]);
    stage.isCoinIndexed = true;
    await stage.mine([deposits(10n)]);
    // The earlier read is from a block above which not everything is indexed.
    await stage.age(1);
    expect(await stage.shown()).toEqual([`${COIN} 65 3`]);
    expect(await stage.classes()).toEqual({});
    const calls = callsOf(stage);
    await stage.mine();
    await stage.age(1);
    expect(await stage.shown()).toEqual([`${COIN} 65 4`]);
    expect(callsOf(stage)).toBe(calls);
    await stage.mine([withdraws(30n)]);
    expect(await stage.shown()).toEqual([`${COIN} 35 5`]);
    expect(await stage.classes()).toEqual({ [COIN]: 'sum' });
    const before = callsOf(stage);
    expect(await stage.shown({ toBlock: 2 })).toEqual([`${COIN} 55 2`]);
    expect(callsOf(stage)).toBe(before);
    // Only the nodes have block 2.
    expect(await stage.shown({ toBlock: 1 })).toEqual([`${COIN} 50 1`]);
    expect(callsOf(stage)).toBeGreaterThan(before);
  });

  test('a wallet that held some before has it shown of a block then', async () => {
    const stage = await stageOf({ isCoinIndexed: false });
    await stage.mine([deposits(50n)]);
    await stage.mine([withdraws(50n)]);
    stage.isCoinIndexed = true;
    await stage.mine([gives(OTHER, 1n)]);
    expect(await stage.shown()).toEqual([`${OTHER} 1 3`]);
    expect(await stage.shown({ toBlock: 1 })).toEqual([`${COIN} 50 1`]);
  });

  test('once the rest is backfilled, sums tell it without a node, and nothing is counted twice', async () => {
    const stage = await stageOf({ isCoinIndexed: false });
    await nameInList(stages.database, stage.chain.id, COIN);
    await stage.mine([deposits(50n)]);
    await stage.mine([withdraws(8n)]);
    expect(await stage.shown()).toEqual([`${COIN} 42 2`]);
    stage.isCoinIndexed = true;
    await stage.mine([deposits(1n)]);
    await stage.backfillCoin();
    const [held] = await stages.database.query<{ total: string }>(
      sql`SELECT total::text FROM erc20_wallet_tokens WHERE chain_id = ${stage.chain.id} AND token = ${addressBytes(COIN)} AND wallet = ${addressBytes(ALICE)}`,
    );
    expect(held).toEqual({ total: '43' });
    for (const node of stage.nodes) node.isDown = true;
    expect(await stage.shown()).toEqual([`${COIN} 43 3`]);
    expect(await stage.shown({ toBlock: 1 })).toEqual([`${COIN} 50 1`]);
  });

  test('one that stops being indexed is asked each time again', async () => {
    const stage = await stageOf();
    await stage.mine([deposits(50n)]);
    expect(await stage.shown()).toEqual([`${COIN} 50 1`]);
    stage.isCoinIndexed = false;
    await stage.mine([deposits(10n)]);
    await stage.age(1);
    expect(await stage.shown()).toEqual([`${COIN} 60 2`]);
    stage.isCoinIndexed = true;
    await stage.mine([withdraws(7n)]);
    expect(await stage.shown()).toEqual([`${COIN} 53 3`]);
    expect(await stage.classes()).toEqual({ [COIN]: 'sum' });
  });
});
