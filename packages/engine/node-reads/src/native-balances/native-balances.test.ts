import type { Hash } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf } from '@chainstead/testkit';
import { getAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deployKeeper, type Keeper } from '../testing/example-contracts.ts';
import { openStateStage, type StateStage } from '../testing/state-stage.ts';
import { nativeBalanceRoutes } from './native-balance-routes.ts';
import { nativeBalancesReader } from './stored-native-balances.ts';

const [ALICE, BOB, NOBODY] = [addressOf(0xa11ce), addressOf(0xb0b), addressOf(0xdead)];

let stage: StateStage;
let keeper: Keeper;
let api: ApiApp;
const onDemand = { waitMs: 10_000 };

beforeAll(async () => {
  stage = await openStateStage();
  keeper = await deployKeeper(stage.devnet);
  await stage.startWorker([nativeBalancesReader]);
  const { nodeReads } = stage;
  api = await exampleApi(stage.scratch.database, [nativeBalanceRoutes({ nodeReads, maxAgeMs: 60_000 })], {
    onDemand,
  });
});
afterAll(() => stage.close());
beforeEach(async () => {
  stage.node.alter = () => undefined;
  onDemand.waitMs = 10_000;
  await stage.scratch.database.query(sql`TRUNCATE native_balances, state_questions`);
});

async function pay(to: string, value: bigint): Promise<Hash> {
  const { address, code } = keeper;
  const receipt = await stage.devnet.send({ address, abi: code.abi, functionName: 'pay', args: [to], value });
  return receipt.blockHash as Hash;
}

async function ask(path: string) {
  const response = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: response.status, body: (await response.json()) as unknown, headers: response.headers };
}

const readings = (): number => stage.node.received.filter(({ method }) => method === 'eth_getBalance').length;

describe('the balance of a wallet', () => {
  test('is that after the newest indexed block, read once for all who ask', async () => {
    await pay(ALICE, 5n * 10n ** 18n);
    const block = await stage.commit();
    // Not indexed yet.
    await pay(ALICE, 1n);
    const expected = {
      status: 200,
      body: { balance: '5000000000000000000', block_number: String(block.number) },
    };
    const before = readings();
    expect(await ask(`${ALICE}/balance?chain=0x1`)).toMatchObject(expected);
    expect(await ask(`${getAddress(ALICE)}/balance`)).toMatchObject(expected);
    expect(await ask(`${ALICE}/balance?to_block=${block.number + 100}`)).toMatchObject(expected);
    expect(readings() - before).toBe(1);
    expect((await ask(`${NOBODY}/balance`)).body).toEqual({ balance: '0', block_number: String(block.number) });
  });

  test('is read anew once its block was reorganised away', async () => {
    await pay(BOB, 100n);
    await stage.commit();
    expect((await ask(`${BOB}/balance`)).body).toMatchObject({ balance: '100' });
    await stage.devnet.reorg(1);
    const block = await stage.commit();
    expect((await ask(`${BOB}/balance`)).body).toEqual({ balance: '0', block_number: String(block.number) });
  });

  test('after an earlier block is asked of a node that has kept it', async () => {
    const wallet = addressOf(0xca201);
    await pay(wallet, 3n);
    const early = await stage.commit();
    await pay(wallet, 4n);
    await stage.commit();
    expect((await ask(`${wallet}/balance`)).body).toMatchObject({ balance: '7' });
    const past = `${wallet}/balance?to_block=${early.number}`;
    expect((await ask(past)).body).toEqual({ balance: '3', block_number: String(early.number) });
    // Where the block is not among those that are stored, a node says which it is.
    await stage.scratch.database.query(sql`DELETE FROM blocks WHERE block_number = ${early.number}`);
    await stage.scratch.database.query(sql`TRUNCATE state_questions`);
    expect((await ask(past)).body).toEqual({ balance: '3', block_number: String(early.number) });
    stage.node.alter = ({ method }) =>
      method === 'eth_getBalance' ? { error: { code: -32000, message: 'missing trie node 1b' } } : undefined;
    const another = `${wallet}/balance?to_block=${early.number - 1}`;
    expect(await ask(another)).toMatchObject({
      status: 404,
      body: {
        message: `Balances at block ${early.number - 1} need an archive node`,
        details: { status: 'not-archived' },
      },
    });
  });

  test('is never guessed: without a reading in time there is none', async () => {
    await stage.commit();
    onDemand.waitMs = 0;
    const late = await ask(`${addressOf(0x1a7e)}/balance`);
    expect(late).toMatchObject({ status: 503, body: { message: expect.stringContaining('retry in a moment') } });
    expect(late.headers.get('retry-after')).toBe('1');
    onDemand.waitMs = 10_000;
    stage.node.alter = ({ method }) =>
      method === 'eth_getBalance' ? { error: { code: -32603, message: 'secret of a node' } } : undefined;
    const failed = await ask(`${addressOf(0xfa11)}/balance`);
    expect(failed.status).toBe(503);
    expect(failed.headers.get('retry-after')).toBe('1');
    expect(JSON.stringify(failed.body)).not.toContain('secret');
  });
});

describe('the balances of several wallets', () => {
  test('are of one block, in the order asked for, each wallet once', async () => {
    const [one, two] = [addressOf(0xe1), addressOf(0xe2)];
    await pay(one, 10n ** 18n);
    await pay(two, 5n * 10n ** 17n);
    const block = await stage.commit();
    // An older reading of one of them alone.
    await ask(`${one}/balance`);
    const list = [two, NOBODY, getAddress(one), two].map((wallet) => `wallet_addresses[]=${wallet}`).join('&');
    expect(await ask(`wallets/balances?${list}`)).toMatchObject({
      status: 200,
      body: [
        {
          chain: 'eth',
          chain_id: '0x1',
          total_balance: '1500000000000000000',
          total_balance_formatted: '1.5',
          block_number: String(block.number),
          block_timestamp: String(block.timestamp),
          wallet_balances: [
            { address: two, balance: '500000000000000000', balance_formatted: '0.5' },
            { address: NOBODY, balance: '0', balance_formatted: '0' },
            { address: one, balance: '1000000000000000000', balance_formatted: '1' },
          ],
        },
      ],
    });
  });

  test('may be a hundred; bad questions are refused by name', async () => {
    await stage.commit();
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => `wallet_addresses=${addressOf(0xf000 + index)}`).join('&');
    const hundred = await ask(`wallets/balances?${many(100)}`);
    expect(hundred.status).toBe(200);
    expect(JSON.stringify(hundred.body).match(/balance_formatted/g)).toHaveLength(101);
    expect(await ask(`wallets/balances?${many(101)}`)).toMatchObject({
      status: 400,
      body: { message: 'wallet_addresses: at most 100 items' },
    });
    expect(await ask('wallets/balances')).toMatchObject({
      status: 400,
      body: { message: 'wallet_addresses is required' },
    });
    expect(await ask('wallets/balances?wallet_addresses=0x1')).toMatchObject({
      status: 400,
      body: { message: '[C0005] Invalid address provided' },
    });
    expect((await ask(`${ALICE}/balance?to_block=-1`)).status).toBe(400);
    expect((await ask(`${ALICE}/balance?chain=nowhere`)).status).toBe(400);
    expect((await ask('wallets/balance')).status).toBe(400);
  });
});
