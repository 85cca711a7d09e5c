/**
 * Blocks of a chain that keeps all transactions and logs are followed on a devnet, through reorgs and a node with wrong data. Each is served from rows as
 * the node has it, and no request may cause a call.
 */

import { ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { requestNode, startNodeProxy } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectedBlock, expectedTransaction, type RecordedBlock } from './expected-transactions.ts';
import { FINAL_DEPTH, type FollowedDevnet, openFollowedDevnet } from './followed-devnet.ts';
import { countFaults, upstreamName, waitUntil } from './indexed-chain.ts';

const KEY = 'kept-whole';
const RECEIVER = '0x1f98431c8ad98523631ae4a59f267346ea31f984';
/** Leaves a log of a topic and one of none, and a contract without code. */
const TALKATIVE_CREATION = '0x600160006000a160006000a000';

let stage: FollowedDevnet;
beforeAll(async () => {
  stage = await openFollowedDevnet({ key: KEY, id: 1_337_072, logs: 'all' });
  await sendSome(6);
  await stage.follow();
});
afterAll(() => stage?.close());

/** Two transactions in each block, one of which leaves logs. */
async function sendSome(blocks: number): Promise<void> {
  const {
    client,
    accounts: [account = ZERO_ADDRESS],
  } = stage.devnet;
  await client.setAutomine(false);
  for (let block = 0; block < blocks; block++) {
    await client.sendTransaction({
      account,
      to: RECEIVER,
      value: BigInt(block),
      gas: 100_000n,
      chain: null,
    });
    await client.sendTransaction({ account, data: TALKATIVE_CREATION, gas: 200_000n, chain: null });
    await client.mine({ blocks: 1 });
  }
  await client.setAutomine(true);
}

const ask = (place: number | string) => stage.ask(`block/${place}?chain=${KEY}`);

const NOT_INDEXED = { status: 400, body: { details: { reason: 'not-indexed' } } };

/** Every block is answered as the node has it, and no other one is kept. @returns how many logs they have */
async function expectTruth(): Promise<number> {
  const { chain, database, devnet } = stage;
  const head = Number((await devnet.client.getBlock()).number);
  let logs = 0;
  for (let number = 1; number <= head; number++) {
    const at = `0x${number.toString(16)}`;
    const of: RecordedBlock = {
      block: (await requestNode(devnet.url, 'eth_getBlockByNumber', [at, true])) as RecordedBlock['block'],
      receipts: (await requestNode(devnet.url, 'eth_getBlockReceipts', [at])) as RecordedBlock['receipts'],
    };
    const transactions = of.block.transactions.map((one) => expectedTransaction(chain, of, one));
    const expected = { ...expectedBlock(chain, of), transactions };
    const marks = { source: 'indexed', proof: 'receipts+transactions' };
    await waitUntil(async () => {
      const { status, body } = await ask(number);
      const { hash, proof } = Object(body);
      // History may be there before it is proven.
      const isReported = status === 200 && hash === of.block.hash && proof === marks.proof;
      return isReported ? null : `block ${number} of ${head}: ${status} ${proof}`;
    });
    for (const place of [number, String(of.block.hash)]) {
      const { status, body } = await ask(place);
      const { confirmations: _, finalized: _final, ...shown } = Object(body);
      expect([place, status, shown]).toEqual([place, 200, { ...expected, ...marks }]);
    }
    logs += of.receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0);
  }
  const [kept] = await database.query<{ headers: number }>(sql`SELECT count(*) AS headers FROM block_headers`);
  expect(kept).toEqual({ headers: head });
  return logs;
}

test('blocks of history and of the head are told by their rows, through reorganisations', async () => {
  expect(await expectTruth()).toBe(12);
  await sendSome(4);
  expect(await expectTruth()).toBe(20);
  const { devnet } = stage;
  const { hash } = await devnet.client.getBlock();
  await devnet.reorg(3);
  await sendSome(1);
  await expectTruth();
  expect(await ask(hash ?? '')).toMatchObject(NOT_INDEXED);
});

test('a header that does not hash to the hash of its block is not kept', async () => {
  const { database, devnet } = stage;
  await expectTruth();
  await stage.unfollow();
  const miner = `0x${'ab'.repeat(20)}`;
  const liar = await startNodeProxy(devnet.url, {
    alter: ({ method }, result) =>
      method.startsWith('eth_getBlockBy') && result !== null ? { ...Object(result), miner } : result,
  });
  await sendSome(2);
  const { registry: counted } = await stage.follow(liar.url);
  await waitUntil(async () => {
    const faults = await countFaults(counted, upstreamName(liar.url), ['header-hash-mismatch']);
    return faults > 0 ? null : 'the node was not found out';
  });
  await stage.unfollow();
  await liar.close();
  const altered = await database.query(
    sql`SELECT FROM block_headers WHERE miner = decode(repeat('ab', 20), 'hex')`,
  );
  expect(altered).toEqual([]);
  await stage.follow();
  await expectTruth();
});

test('blocks that were stored before headers were are filled in', async () => {
  const { database, devnet } = stage;
  await devnet.mine(FINAL_DEPTH);
  const logs = await expectTruth();
  await stage.unfollow();
  await database.query(sql`DELETE FROM block_headers`);
  await database.query(sql`DELETE FROM sync_ranges WHERE dataset = 'block-headers'`);
  expect(await ask(3)).toMatchObject(NOT_INDEXED);
  await stage.follow();
  // Once they have settled: the newest are only then looked for.
  await devnet.mine(FINAL_DEPTH);
  expect(await expectTruth()).toBe(logs);
});
