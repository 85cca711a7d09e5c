/** Transactions of a wallet's history, read from a node: with the header if the fee depends on it. */
import { type Hex, parseChainId, parseHash, silentLogger, systemClock, ZERO_ADDRESS } from '@chainstead/core';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { openStateStage } from '@chainstead/node-reads/testing';
import { hashOf } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import { walletTransactionsReader } from './wallet-transactions-reader.ts';

type Item = Parameters<typeof walletTransactionsReader.read>[1]['items'][number];

const MANTLE = parseChainId(5000);
const stage = stageOfFile(openStateStage);

/** Two transactions of one block, with their fees in wei. */
async function mineTwo() {
  const { client, accounts } = stage.devnet;
  await client.setAutomine(false);
  const sent: Hex[] = [];
  for (const account of accounts.slice(0, 2))
    sent.push(await client.sendTransaction({ account, to: ZERO_ADDRESS, gas: 30_000n, chain: null }));
  await client.mine({ blocks: 1 });
  await client.setAutomine(true);
  const receipts = await Promise.all(sent.map((hash) => client.getTransactionReceipt({ hash })));
  const items = receipts.map(({ transactionHash, transactionIndex, blockHash }) => ({
    ...{ hash: parseHash(transactionHash), index: transactionIndex, blockHash: parseHash(blockHash) },
  }));
  return { items, fees: receipts.map(({ gasUsed, effectiveGasPrice }) => String(gasUsed * effectiveGasPrice)) };
}

async function read(items: readonly Item[], id = stage.chain.id) {
  const { chain, pool, scratch } = stage;
  const base = { pool, database: scratch.database, clock: systemClock, logger: silentLogger() };
  const context = { ...base, chain: { ...chain, id } };
  const { transactions } = await walletTransactionsReader.read(
    context,
    { items: [...items] },
    AbortSignal.timeout(20_000),
  );
  return transactions.map(({ fee }) => fee);
}

const headersRead = () => stage.node.received.filter(({ method }) => method === 'eth_getBlockByHash').length;

/** Receipts lack members, as those of some nodes do. */
function lack(...members: readonly string[]): void {
  stage.node.alter = async ({ method, params }) => {
    if (method !== 'eth_getTransactionReceipt') return undefined;
    const receipt = await stage.devnet.client.request({ method, params } as never);
    return { result: { ...(receipt as object), ...Object.fromEntries(members.map((member) => [member, null])) } };
  };
}

beforeEach(() => {
  stage.node.alter = () => undefined;
  stage.node.received.length = 0;
});

test('a fee that transaction and receipt tell costs no header', async () => {
  const { items, fees } = await mineTwo();
  expect(await read(items)).toEqual(fees);
  expect(headersRead()).toBe(0);
});

test('a fee without a price in the receipt is read with one header for the block', async () => {
  const { items, fees } = await mineTwo();
  lack('effectiveGasPrice');
  expect(await read(items)).toEqual(fees);
  expect(headersRead()).toBe(1);
});

test('a fee of a chain with rules by time is read with the header', async () => {
  const { items, fees } = await mineTwo();
  expect(await read(items.slice(0, 1), MANTLE)).toEqual(fees.slice(0, 1));
  expect(headersRead()).toBe(1);
});

test('a header that is missing, or of another block, fails the read', async () => {
  const { items } = await mineTwo();
  lack('effectiveGasPrice');
  const { alter } = stage.node;
  const other = await stage.devnet.client.request({
    method: 'eth_getBlockByNumber',
    params: ['0x0', false],
  });
  for (const result of [null, other]) {
    stage.node.alter = (call) => (call.method === 'eth_getBlockByHash' ? { result } : alter(call));
    await expect(read(items)).rejects.toThrow(StateUnavailableError);
  }
});

test('a transaction that the node has elsewhere fails the read', async () => {
  const { items } = await mineTwo();
  const moved = items.map((item) => ({ ...item, blockHash: parseHash(hashOf(9, 9)) }));
  await expect(read(moved)).rejects.toThrow(StateUnavailableError);
});
