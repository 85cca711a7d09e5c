import { type Hash, parseHash, silentLogger, waitingAtMost } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf, hashOf } from '@chainstead/testkit';
import { toFunctionSelector } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deployKeeper, type Keeper } from '../testing/example-contracts.ts';
import { openStateStage, type StateStage } from '../testing/state-stage.ts';
import { transactionFactsOf, transactionFactsReader } from './transaction-facts.ts';

const WALLET = addressOf(0xa11ce);

let stage: StateStage;
let keeper: Keeper;
let paid: Hash;
let deployed: Hash;

beforeAll(async () => {
  stage = await openStateStage();
  keeper = await deployKeeper(stage.devnet);
  const [creation] = (await stage.devnet.client.getBlock()).transactions;
  deployed = parseHash(creation);
  const { address, code } = keeper;
  const receipt = await stage.devnet.send({
    address,
    abi: code.abi,
    functionName: 'pay',
    args: [WALLET],
    value: 77n,
  });
  paid = parseHash(receipt.transactionHash);
  await stage.startWorker([transactionFactsReader]);
});
afterAll(() => stage.close());
beforeEach(async () => {
  stage.node.alter = () => undefined;
  await stage.scratch.database.query(sql`TRUNCATE transaction_facts, state_questions`);
});

const read = (hashes: readonly Hash[], waitMs = 10_000) => {
  const { scratch, nodeReads, chain } = stage;
  const context = { database: scratch.database, nodeReads, logger: silentLogger() };
  return waitingAtMost(waitMs, () => transactionFactsOf(context, chain, hashes));
};
const readings = () => stage.node.received.filter(({ method }) => method === 'eth_getTransactionByHash').length;

test('a transaction says who sent it, to whom, how much, and which function', async () => {
  const [sender] = stage.devnet.accounts;
  const expected = new Map([
    [
      paid,
      { sender, recipient: keeper.address, value: '77', method: toFunctionSelector('function pay(address)') },
    ],
    [deployed, { sender, recipient: null, value: '0', method: expect.stringMatching(/^0x60/) }],
  ]);
  expect(await read([paid, deployed])).toEqual(expected);
  const before = readings();
  expect(await read([deployed, paid], 0)).toEqual(expected);
  expect(readings()).toBe(before);
});

test('what no node has, or another transaction than the one asked for, is missing', async () => {
  const unknown = hashOf(7, 7);
  expect([...(await read([unknown, paid])).keys()]).toEqual([paid]);
  await stage.scratch.database.query(sql`TRUNCATE transaction_facts, state_questions`);
  const other = await stage.devnet.client.getTransaction({ hash: deployed });
  stage.node.alter = ({ method }) =>
    method === 'eth_getTransactionByHash'
      ? { result: { hash: other.hash, from: other.from, to: null, value: '0x1', input: '0x' } }
      : undefined;
  expect(await read([paid])).toEqual(new Map());
  expect(await stage.scratch.database.query(sql`SELECT FROM transaction_facts`)).toHaveLength(0);
});

test('input of less than four bytes calls no function', async () => {
  const hash = hashOf(7, 8);
  const [from] = stage.devnet.accounts;
  stage.node.alter = ({ method }) =>
    method === 'eth_getTransactionByHash'
      ? { result: { hash, from, to: WALLET, value: '0x5', input: '0x12' } }
      : undefined;
  expect((await read([hash])).get(hash)).toEqual({ sender: from, recipient: WALLET, value: '5', method: null });
});
