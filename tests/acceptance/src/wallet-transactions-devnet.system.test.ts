/**
 * Transactions of every kind are followed on a devnet through reorganisations, and read again: each time every account's list equals a recomputation from
 * what the node says of all blocks.
 */

import { silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { reindexRanges } from '@chainstead/sync/ingest';
import { createSeededRandom, requestNode } from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectedTransaction, type RecordedBlock } from './expected-transactions.ts';
import { FINAL_DEPTH, type FollowedDevnet, openFollowedDevnet } from './followed-devnet.ts';
import { waitUntil } from './indexed-chain.ts';

const KEY = 'listed';
/** Code of a contract of one byte, STOP; and one that fails. */
const CREATION: Hex = '0x60006000526001601ff3';
const FAILING_CREATION: Hex = '0x60006000fd';

let stage: FollowedDevnet;
beforeAll(async () => {
  stage = await openFollowedDevnet({ key: KEY, id: 1_337_071 });
  await stage.follow();
});
afterAll(() => stage?.close());

/** Sends transactions of all kinds, some of them into one block. */
async function sendSome(seed: number, blocks: number): Promise<void> {
  const random = createSeededRandom(seed);
  const { client, accounts } = stage.devnet;
  const contract = '0x1f98431c8ad98523631ae4a59f267346ea31f984';
  await client.setAutomine(false);
  for (let block = 0; block < blocks; block++) {
    for (let count = random.integer(0, 4); count > 0; count--) {
      const account = accounts[random.integer(0, accounts.length - 1)] ?? accounts[0];
      const to = [...accounts, contract, `0x${'0'.repeat(40)}`][random.integer(0, accounts.length + 1)] as Hex;
      const kinds: readonly object[] = [
        { to, value: BigInt(random.integer(0, 9)), type: 'legacy', gasPrice: 3_000_000_000n },
        { to: account, value: 1n },
        { to, data: '0xa9059cbb' },
        { to, type: 'eip2930', gasPrice: 3_000_000_000n, accessList: [{ address: contract, storageKeys: [] }] },
        { to: null, data: CREATION },
        { to: null, data: FAILING_CREATION, gas: 100_000n },
      ];
      const kind = kinds[random.integer(0, kinds.length - 1)];
      await client.sendTransaction({ account, chain: null, gas: 200_000n, ...kind } as Parameters<
        typeof client.sendTransaction
      >[0]);
    }
    await client.mine({ blocks: 1 });
  }
  await client.setAutomine(true);
}

type Expected = NonNullable<ReturnType<typeof expectedTransaction>>;

/** Transactions of every account, by block and place, from the node's own blocks and receipts. */
async function recomputed(): Promise<ReadonlyMap<string, readonly Omit<Expected, 'logs'>[]>> {
  const { chain, devnet } = stage;
  const head = Number(await requestNode(devnet.url, 'eth_blockNumber', []));
  const lists = new Map<string, Omit<Expected, 'logs'>[]>();
  for (let number = 1; number <= head; number++) {
    const at = `0x${number.toString(16)}`;
    const of: RecordedBlock = {
      block: (await requestNode(devnet.url, 'eth_getBlockByNumber', [at, true])) as RecordedBlock['block'],
      receipts: (await requestNode(devnet.url, 'eth_getBlockReceipts', [at])) as RecordedBlock['receipts'],
    };
    for (const transaction of of.block.transactions) {
      const expected = expectedTransaction(chain, of, transaction);
      if (expected === null) continue;
      const { logs: _, ...listed } = expected;
      const created = expected.receipt_status === '1' ? expected.receipt_contract_address : null;
      for (const account of new Set([expected.from_address, expected.to_address, created]))
        if (account !== null && !/^0x0+$/.test(account))
          lists.set(account, [...(lists.get(account) ?? []), listed]);
    }
  }
  return lists;
}

async function listOf(account: string): Promise<object[]> {
  const rows: object[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? `chain=${KEY}&order=ASC&limit=7` : `cursor=${cursor}`;
    const { status, body } = await stage.ask(`${account}?${query}`);
    expect([status, status === 200 ? '' : body]).toEqual([200, '']);
    const page = body as { result: object[]; cursor: string | null };
    rows.push(...page.result);
    ({ cursor } = page);
  }
  return rows;
}

async function expectTruth(): Promise<number> {
  const { chain, database, devnet } = stage;
  const head = await devnet.client.getBlock();
  await waitUntil(async () => {
    const [row] = await database.query<{ checkpoint: number; hash: string }>(
      sql`SELECT checkpoint, '0x' || encode(block_hash, 'hex') AS hash FROM sync_chains
         JOIN blocks ON blocks.chain_id = sync_chains.chain_id AND block_number = checkpoint WHERE sync_chains.chain_id = ${chain.id}`,
    );
    return row?.hash === head.hash ? null : `block ${row?.checkpoint} of ${head.number}`;
  });
  const expected = await recomputed();
  for (const [account, list] of expected) expect([account, await listOf(account)]).toEqual([account, list]);
  const [kept] = await database.query<{ transactions: number; accounts: number }>(
    sql`SELECT (SELECT count(*) FROM transactions) AS transactions, (SELECT count(*) FROM account_transactions) AS accounts`,
  );
  const hashes = new Set([...expected.values()].flat().map(({ hash }) => hash));
  expect(kept).toEqual({
    transactions: hashes.size,
    accounts: [...expected.values()].reduce((sum, { length }) => sum + length, 0),
  });
  return hashes.size;
}

test('every list is what the node says, through reorganisations', async () => {
  await sendSome(1, 12);
  expect(await expectTruth()).toBeGreaterThan(8);
  for (const [turn, depth] of [1, 3, 6].entries()) {
    await stage.devnet.reorg(depth);
    await sendSome(10 + turn, 2);
    await expectTruth();
  }
});

test('what was lost, altered or invented is read again', async () => {
  await sendSome(20, 4);
  const { chain, database, devnet } = stage;
  const lastSent = Number((await devnet.client.getBlock()).number);
  await devnet.mine(FINAL_DEPTH);
  const count = await expectTruth();
  await database.query(sql`DELETE FROM transactions WHERE ctid IN (SELECT ctid FROM transactions LIMIT 1)`);
  await database.query(
    sql`UPDATE transactions SET value = value + 1, from_address = to_address WHERE to_address IS NOT NULL`,
  );
  await database.query(sql`DELETE FROM account_transactions WHERE roles = 2`);
  await database.query(
    sql`UPDATE account_transactions SET account = decode(repeat('ab', 20), 'hex') WHERE roles = 4`,
  );
  await stage.unfollow();
  const options = {
    ...{ chain, database, datasets, logger: silentLogger(), clock: systemClock },
    ...{ proof: 'strict' as const, backfillProof: 'receipts' as const },
  };
  const { pool, metrics } = await stage.follow();
  await reindexRanges({ ...options, pool, metrics }, [{ from: 1, to: lastSent }], AbortSignal.timeout(180_000));
  expect(await expectTruth()).toBe(count);
});
