/**
 * Transactions of every kind are followed on a devnet through reorganisations, and read again: each time every account's list equals a recomputation from
 * what the node says of all blocks.
 */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createDatasetRoutes, datasets } from '@chainstead/datasets';
import { createJobs, type Jobs } from '@chainstead/jobs';
import { reindexRanges } from '@chainstead/sync';
import {
  askNode,
  checkAnswers,
  createScratchDatabase,
  createSeededRandom,
  type Devnet,
  type ScratchDatabase,
  startDevnet,
} from '@chainstead/testkit';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiUnderTest, TEST_KEY } from './api-under-test.ts';
import { expectedTransaction, type RecordedBlock } from './expected-transactions.ts';
import { type Indexer, startIndexer, waitUntil } from './indexed-chain.ts';

const CHAIN_ID = 1_337_071;
const KEY = 'listed';
/** Below them nothing is reorganised on the devnet. */
const FINAL_DEPTH = 70;
const registry = createChainRegistry({
  additional: [
    {
      ...{ key: KEY, id: CHAIN_ID, pollIntervalMs: 20, headerHash: true, proofPolicy: 'strict', confirmations: 1 },
      transactions: { mode: 'all', input: 'full', provesSenders: true },
    },
  ],
});
const chain: Chain = registry.get(KEY);
/** Code of a contract of one byte, STOP; and one that fails. */
const CREATION: Hex = '0x60006000526001601ff3';
const FAILING_CREATION: Hex = '0x60006000fd';

let devnet: Devnet;
let scratch: ScratchDatabase;
let jobs: Jobs;
let indexer: Indexer;
let api: Awaited<ReturnType<typeof createApiUnderTest>>;

beforeAll(async () => {
  [devnet, scratch] = await Promise.all([startDevnet({ chainId: CHAIN_ID }), createScratchDatabase()]);
  const { database } = scratch;
  const logger = silentLogger();
  indexer = await startIndexer({ chain, urls: [devnet.url], database });
  jobs = await createJobs({ databaseUrl: scratch.url, logger, metrics: createMetricsRegistry() });
  const routes = createDatasetRoutes({
    ...{ database, jobs, logger, chains: [chain], clock: systemClock },
    onDemand: { waitMs: 0, maxCalls: 0, perKey: 1 },
  });
  const indexed = { chains: [chain], datasets: datasets.map(({ name }) => name) };
  api = checkAnswers(await createApiUnderTest(database, registry, routes, indexed));
});
afterAll(async () => {
  await indexer?.stop();
  await jobs?.close(2_000);
  await devnet?.stop();
  await scratch?.drop();
});

/** Sends transactions of all kinds, some of them into one block. */
async function sendSome(seed: number, blocks: number): Promise<void> {
  const random = createSeededRandom(seed);
  const { client, accounts } = devnet;
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

/** Of every account, by block and place, from the node's own blocks and receipts. */
async function recomputed(): Promise<ReadonlyMap<string, readonly Omit<Expected, 'logs'>[]>> {
  const head = Number(await askNode(devnet.url, 'eth_blockNumber', []));
  const lists = new Map<string, Omit<Expected, 'logs'>[]>();
  for (let number = 1; number <= head; number++) {
    const at = `0x${number.toString(16)}`;
    const of: RecordedBlock = {
      block: (await askNode(devnet.url, 'eth_getBlockByNumber', [at, true])) as RecordedBlock['block'],
      receipts: (await askNode(devnet.url, 'eth_getBlockReceipts', [at])) as RecordedBlock['receipts'],
    };
    for (const transaction of of.block.transactions) {
      const expected = expectedTransaction(chain, of, transaction);
      if (expected === null) continue;
      const { logs: _, ...listed } = expected;
      const created = expected.receipt_status === '1' ? expected.receipt_contract_address : null;
      for (const account of new Set([expected.from_address, expected.to_address, created]))
        if (account !== null && !/^0x0+$/.test(account)) lists.set(account, [...(lists.get(account) ?? []), listed]);
    }
  }
  return lists;
}

async function listOf(account: string): Promise<object[]> {
  const rows: object[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? `chain=${KEY}&order=ASC&limit=7` : `cursor=${cursor}`;
    const answer = await api.request(`/api/v2.2/${account}?${query}`, { headers: { 'x-api-key': TEST_KEY } });
    const body = (await answer.json()) as { result: object[]; cursor: string | null };
    expect([answer.status, answer.status === 200 ? '' : body]).toEqual([200, '']);
    rows.push(...body.result);
    ({ cursor } = body);
  }
  return rows;
}

async function expectTruth(): Promise<number> {
  const { database } = scratch;
  const head = await devnet.client.getBlock();
  await waitUntil(async () => {
    const [row] = await database.query<{ checkpoint: number; hash: string }>(
      `SELECT checkpoint, '0x' || encode(block_hash, 'hex') AS hash FROM sync_chains
         JOIN blocks ON blocks.chain_id = sync_chains.chain_id AND block_number = checkpoint WHERE sync_chains.chain_id = $1`,
      [chain.id],
    );
    return row?.hash === head.hash ? null : `block ${row?.checkpoint} of ${head.number}`;
  });
  const expected = await recomputed();
  for (const [account, list] of expected) expect([account, await listOf(account)]).toEqual([account, list]);
  const [kept] = await database.query<{ transactions: number; accounts: number }>(
    `SELECT (SELECT count(*) FROM transactions) AS transactions, (SELECT count(*) FROM account_transactions) AS accounts`,
  );
  const hashes = new Set([...expected.values()].flat().map(({ hash }) => hash));
  expect(kept).toEqual({
    transactions: hashes.size,
    accounts: [...expected.values()].reduce((sum, { length }) => sum + length, 0),
  });
  return hashes.size;
}

test('every list is what the node says, through reorganisations', { timeout: 120_000 }, async () => {
  await sendSome(1, 12);
  expect(await expectTruth()).toBeGreaterThan(8);
  for (const [turn, depth] of [1, 3, 6].entries()) {
    await devnet.reorg(depth);
    await sendSome(10 + turn, 2);
    await expectTruth();
  }
});

test('what was lost, altered or invented is read again', { timeout: 120_000 }, async () => {
  await sendSome(20, 4);
  const { database } = scratch;
  const lastSent = Number((await devnet.client.getBlock()).number);
  await devnet.mine(FINAL_DEPTH);
  const count = await expectTruth();
  await database.query(`DELETE FROM transactions WHERE ctid IN (SELECT ctid FROM transactions LIMIT 1)`);
  await database.query(
    `UPDATE transactions SET value = value + 1, from_address = to_address WHERE to_address IS NOT NULL`,
  );
  await database.query('DELETE FROM account_transactions WHERE roles = 2');
  await database.query(`UPDATE account_transactions SET account = decode(repeat('ab', 20), 'hex') WHERE roles = 4`);
  await indexer.stop();
  const options = {
    ...{ chain, database, datasets, logger: silentLogger(), clock: systemClock },
    ...{ proof: 'strict' as const, backfillProof: 'receipts' as const },
  };
  indexer = await startIndexer({ chain, urls: [devnet.url], database });
  await reindexRanges(
    { ...options, pool: indexer.pool, metrics: indexer.metrics },
    [{ from: 1, to: lastSent }],
    AbortSignal.timeout(60_000),
  );
  expect(await expectTruth()).toBe(count);
});
