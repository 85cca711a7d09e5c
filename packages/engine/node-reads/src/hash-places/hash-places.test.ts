import { parseHash, silentLogger, waitingAtMost } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf, hashOf } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deployKeeper } from '../testing/example-contracts.ts';
import { openStateStage, type StateStage } from '../testing/state-stage.ts';
import { hashPlacesReader, placeOfHash } from './hash-places.ts';

const UNKNOWN = hashOf(7, 7);

let stage: StateStage;

beforeAll(async () => {
  stage = await openStateStage();
  await stage.startWorker([hashPlacesReader]);
});
afterAll(() => stage.close());
beforeEach(async () => {
  stage.node.alter = () => undefined;
  await stage.scratch.database.query(sql`TRUNCATE state_questions`);
});

const read = (hash: string, waitMs = 10_000) =>
  waitingAtMost(waitMs, () =>
    placeOfHash({ nodeReads: stage.nodeReads, logger: silentLogger() }, stage.chain, parseHash(hash)),
  );

test('a transaction and a block are found by their hashes, and nothing by another', async () => {
  const { address, code } = await deployKeeper(stage.devnet);
  const wallet = addressOf(0xa11ce);
  const receipt = await stage.devnet.send({
    address,
    abi: code.abi,
    functionName: 'pay',
    args: [wallet],
    value: 1n,
  });
  const blockNumber = Number(receipt.blockNumber);
  expect(await read(receipt.transactionHash)).toEqual({ kind: 'transaction', blockNumber });
  expect(await read(receipt.blockHash)).toEqual({ kind: 'block', blockNumber });
  expect(await read(UNKNOWN)).toBeNull();
});

test('a transaction that waits, or another than the one that was asked for, is in no block', async () => {
  stage.node.alter = ({ method }) =>
    method === 'eth_getTransactionByHash' ? { result: { hash: UNKNOWN, blockNumber: null } } : undefined;
  expect(await read(UNKNOWN)).toBeNull();
  await stage.scratch.database.query(sql`TRUNCATE state_questions`);
  stage.node.alter = ({ method }) =>
    method === 'eth_getTransactionByHash' ? { result: { hash: hashOf(7, 8), blockNumber: '0x1' } } : undefined;
  expect(await read(UNKNOWN)).toBeNull();
});

test('what no node tells in time is not known', async () => {
  stage.node.alter = () => new Promise(() => undefined);
  expect(await read(UNKNOWN, 50)).toBeUndefined();
});
