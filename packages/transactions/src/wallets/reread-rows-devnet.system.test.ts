/** Rows of wallets that were stored before it was kept what logs say of them, written anew of the same blocks. */
import { type Address, silentLogger } from '@chainstead/core';
import {
  createScratchDatabase,
  type Devnet,
  type ScratchDatabase,
  startDevnet,
  startNodeProxy,
} from '@chainstead/testkit';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { accountTransactions, transactions } from '../stored/datasets.ts';
import { rereadRows } from './reread-rows.ts';
import { APPROVALS, placeEmitter } from './testing/log-emitter.ts';
import { untilCaughtUp } from './testing/until-caught-up.ts';
import { type StageRoles, stageChain, stagePool, startRoles } from './testing/wallet-stage.ts';

const CHAIN_ID = 31_339;
const chain = stageChain(CHAIN_ID);
const never = new AbortController().signal;
let scratch: ScratchDatabase;
let devnet: Devnet;
let roles: StageRoles;
beforeAll(async () => {
  [scratch, devnet] = await Promise.all([createScratchDatabase(), startDevnet({ chainId: CHAIN_ID })]);
  const pool = await stagePool(chain, [devnet.url]);
  roles = await startRoles({ database: scratch.database, databaseUrl: scratch.url, chain, pool });
});
afterAll(async () => {
  await roles?.stop();
  await devnet?.stop();
  await scratch?.drop();
});

async function rows(): Promise<readonly string[]> {
  const stored = await scratch.database.query<{ row: string }>(
    `SELECT concat_ws(' ', block_number, transaction_index, roles, evidence, encode(account, 'hex'), transaction_key) AS row
     FROM account_transactions ORDER BY block_number, transaction_index, account, roles`,
  );
  return stored.map(({ row }) => row);
}

/** What an earlier version has stored. */
async function age(): Promise<void> {
  await scratch.database.query('DELETE FROM account_transactions WHERE roles <= 0');
  await scratch.database.query('UPDATE account_transactions SET evidence = 0');
}

test('are those that are stored of new blocks, also after it ended in between; rows of nobody else come, and none is read twice', async () => {
  const [wallet, other, spender, stranger] = devnet.accounts as unknown as readonly [
    Address,
    Address,
    Address,
    Address,
  ];
  const emit = await placeEmitter(devnet);
  await untilCaughtUp(devnet, scratch.database);
  for (const asked of [wallet, other])
    await roles.asked.ask({ ...scratch, logger: silentLogger() }, chain, asked, null);
  for (let times = 0; times < 6; times += 1) {
    await emit(wallet, [APPROVALS.ofTokens, wallet, spender], 5);
    // Each in a transaction of somebody else.
    await emit(other, [APPROVALS.ofAll, wallet, spender], 1);
    await emit(stranger, [APPROVALS.ofTokens, other, spender], 0);
    await emit(stranger, [APPROVALS.ofTokens, stranger, spender], 0);
  }
  await devnet.mine(20);
  await untilCaughtUp(devnet, scratch.database);
  const before = await rows();
  expect(before.length).toBeGreaterThan(20);
  expect(new Set(before.map((row) => row.split(' ')[3])).size).toBeGreaterThan(2);
  await age();
  const old = await rows();
  expect(old.length).toBeLessThan(before.length);
  const first = Number(old[0]?.split(' ')[0]);
  const last = Number(old.at(-1)?.split(' ')[0]);
  // Of blocks in which a wallet had no role an earlier version stored nothing.
  const blocks = new Set(old.map((row) => row.split(' ')[0]));
  const expected = before.filter((row) => blocks.has(row.split(' ')[0]));
  expect(expected.length).toBeGreaterThan(old.length);

  const asked: string[] = [];
  const proxy = await startNodeProxy(devnet.url, {
    alter: ({ method, params }, result) => {
      if (method === 'eth_getBlockByNumber' && params[1] === true) asked.push(String(params[0]));
      return result;
    },
  });
  onTestFinished(() => proxy.close());
  const pool = await stagePool(chain, [proxy.url]);
  onTestFinished(() => pool.close());
  const options = { chain, pool, database: scratch.database, datasets: [transactions, accountTransactions] as never };
  const reread = (from: number, to: number, signal = never) => rereadRows(options, [{ from, to }], signal);
  expect(await rereadRows({ ...options, datasets: [transactions] as never }, [{ from: 0, to: last }], never)).toBe(0);
  expect(await reread(0, first - 1)).toBe(0);
  expect(await rows()).toEqual(old);
  const middle = Math.floor((first + last) / 2);
  expect(await reread(middle, last)).toBeGreaterThan(2);
  await expect(reread(0, last, AbortSignal.abort(new Error('ended')))).rejects.toThrow('ended');
  expect(await reread(0, last)).toBeGreaterThan(2);
  expect(await rows()).toEqual(expected);
  expect(new Set(asked).size).toBe(asked.length);
  expect(await reread(0, last)).toBe(0);
}, 60_000);
