/**
 * Recorded transactions of chains that keep all transactions and logs are served of their rows alone, field by field as they were recorded: no node is
 * there, and no request may cause a call.
 */
import { type Chain, type ChainRegistry, createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, parseHash, silentLogger, systemClock } from '@chainstead/core';
import { createDatasetRoutes, datasets } from '@chainstead/datasets';
import { type Database, hexBytes } from '@chainstead/db';
import { createJobs, type Jobs } from '@chainstead/jobs';
import { parseReceipt } from '@chainstead/rpc';
import { type Dataset, executedTransaction, type WholeBlock } from '@chainstead/sync';
import { checkAnswers, createPartitions, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { decodeErc20Transfer, decodeNftTransfers } from '@chainstead/token-events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiUnderTest, TEST_KEY } from './api-under-test.ts';
import { expectedEvent, expectedTransaction, type RecordedBlock } from './expected-transactions.ts';
import { listRecordings, RECORDINGS_FOLDER, readRecorded, readRecording } from './recorded-evm-blocks.ts';

if (RECORDINGS_FOLDER === '')
  process.stderr.write(
    'stored-transactions-real-blocks.test.ts: NOT RUN, the recorded blocks (../shared/data/evm) are not here\n',
  );

const ALL = listRecordings();
const STORED = ['transactions', 'account-transactions', 'logs', 'erc20-transfers', 'nft-transfers'];

let scratch: ScratchDatabase;
let jobs: Jobs;
let api: Awaited<ReturnType<typeof createApiUnderTest>>;
let chainOf: (name: string) => Chain;

describe.runIf(RECORDINGS_FOLDER !== '')('recorded transactions of chains that keep them', () => {
  beforeAll(async () => {
    scratch = await createScratchDatabase();
    const { database } = scratch;
    const ids = readRecorded('chain-ids.json') as Record<string, number>;
    const names = [...new Set(ALL.map(({ chain }) => chain))];
    const known = createChainRegistry();
    const additional = names.flatMap((key) => (known.find(ids[key] ?? 0) === null ? [{ key, id: ids[key] ?? 0 }] : []));
    const registry = keepingAll(createChainRegistry({ additional }));
    chainOf = (name) => registry.get(ids[name] ?? name);
    const logger = silentLogger();
    jobs = await createJobs({ databaseUrl: scratch.url, logger, metrics: createMetricsRegistry() });
    const chains = names.map(chainOf);
    for (const chain of chains)
      for (const { table } of datasets) if (table.isPartitioned) await createPartitions(database, table.name, chain.id);
    for (const recording of ALL) await store(database, chainOf(recording.chain), readRecording(recording));
    const routes = createDatasetRoutes({
      ...{ database, jobs, logger, chains, clock: systemClock },
      onDemand: { waitMs: 1_000, maxCalls: 0, perKey: 1_000 },
    });
    api = checkAnswers(await createApiUnderTest(database, registry, routes, { chains, datasets: [] }));
  }, 300_000);
  afterAll(async () => {
    await jobs?.close(2_000);
    await scratch?.drop();
  });

  async function ask(path: string): Promise<{ readonly status: number; readonly body: unknown }> {
    const answer = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': TEST_KEY } });
    return { status: answer.status, body: await answer.json() };
  }

  test.each(ALL)('those of $folder are served as they were recorded, of their rows', async (recording) => {
    const of = readRecording(recording);
    const chain = chainOf(recording.chain);
    const { transactions } = of.block;
    const creation = transactions.find(({ to }) => to === null || to === undefined);
    const failed = of.receipts.find(({ status }) => status === '0x0');
    const talkative = of.receipts.toSorted((one, other) => other.logs.length - one.logs.length)[0];
    const chosen = [transactions[0], transactions.at(-1), creation];
    for (const receipt of [failed, talkative])
      chosen.push(transactions.find(({ hash }) => hash === receipt?.transactionHash));
    for (const one of new Set(chosen)) {
      const expected = one === undefined ? null : expectedTransaction(chain, of, one);
      if (one === undefined || expected === null) continue;
      const marks = { source: 'indexed', proof: 'receipts+transactions', finalized: true };
      const { status, body } = await ask(`transaction/${String(one.hash)}?chain=${chain.id}`);
      expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
      const { confirmations, ...shown } = Object(body);
      expect(shown).toEqual({ ...expected, ...marks });
      expect(confirmations).toBeGreaterThanOrEqual(0);
      const verbose = await ask(`transaction/${String(one.hash)}/verbose?chain=${chain.id}`);
      const logs = expected.logs.map((log) => ({ ...log, decoded_event: expectedEvent(log) }));
      expect(verbose.body).toMatchObject({ ...expected, ...marks, logs });
    }
    expect(await ask(`block/${recording.n}/stats?chain=${chain.id}`)).toEqual({
      status: 200,
      body: statsOf(chain, of),
    });
  });

  test('one is served of its rows only where all of it is there and not contradicted', async () => {
    const { database } = scratch;
    const [recording] = ALL.filter(({ chain }) => chain === 'ethereum');
    if (recording === undefined) throw new Error('No block of Ethereum was recorded');
    const hash = String(readRecording(recording).block.transactions[0]?.hash);
    const at = [recording.n];
    const answer = async () => {
      const { status, body } = await ask(`transaction/${hash}?chain=eth`);
      const { proof, finalized, details } = Object(body);
      return { status, proof, finalized, reason: details?.reason };
    };
    const proven = { status: 200, proof: 'receipts+transactions', finalized: true, reason: undefined };
    expect(await answer()).toEqual(proven);
    await database.query('UPDATE sync_chains SET finalized = $1 - 1 WHERE chain_id = 1', at);
    expect(await answer()).toEqual({ ...proven, finalized: false });
    const level = (proof: string) =>
      database.query(`UPDATE sync_ranges SET proof = $2 WHERE chain_id = 1 AND dataset = 'logs' AND first_block = $1`, [
        ...at,
        proof,
      ]);
    await level('none');
    expect(await answer()).toEqual({ ...proven, proof: 'none', finalized: false });
    const lacking = { status: 400, proof: undefined, finalized: undefined, reason: 'not-indexed' };
    await level('unproven');
    expect(await answer()).toEqual(lacking);
    await level('receipts');
    for (const [change, back] of [
      ['sender_recovered = false', 'sender_recovered = true'],
      [`input = NULL, selector = decode('01020304', 'hex')`, `input = decode('', 'hex')`],
    ]) {
      const row = 'WHERE chain_id = 1 AND transaction_hash = $1';
      await database.query(`UPDATE transactions SET ${change} ${row}`, [hexBytes(parseHash(hash))]);
      expect(await answer()).toEqual(lacking);
      await database.query(`UPDATE transactions SET ${back} ${row}`, [hexBytes(parseHash(hash))]);
      expect(await answer()).toEqual({ ...proven, finalized: false });
    }
  });

  test('what is not kept is not served without a node', async () => {
    const { status, body } = await ask(`transaction/0x${'ab'.repeat(32)}?chain=eth`);
    expect([status, body]).toMatchObject([400, { details: { reason: 'not-indexed' } }]);
  });
});

/** The same chains, as an operator sets them who keeps everything. */
function keepingAll(registry: ChainRegistry): ChainRegistry {
  const known = new Map<number, Chain>();
  const keeping = (chain: Chain): Chain => {
    const made: Chain = known.get(chain.id) ?? {
      ...{ ...chain, logs: 'all' },
      transactions: { mode: 'all', input: 'full', provesSenders: true },
    };
    known.set(chain.id, made);
    return made;
  };
  return {
    ...registry,
    find: (...given) => {
      const found = registry.find(...given);
      return found === null ? null : keeping(found);
    },
    get: (...given) => keeping(registry.get(...given)),
    all: () => registry.all().map(keeping),
  };
}

/** Writes a block's rows as the sync engine would. */
async function store(database: Database, chain: Chain, recorded: RecordedBlock): Promise<void> {
  const { number, block } = wholeBlock(recorded);
  const context = { chain, timestampOf: () => Number(recorded.block.timestamp) };
  const logs = block.transactions.flatMap((one) => one.logs);
  for (const dataset of datasets.filter(({ name }) => STORED.includes(name))) {
    await copy(database, dataset, dataset.wholeBlocks?.decode(block, context) ?? dataset.decode(logs, context));
    await database.query(
      `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES ($1, $2, $3, $3, 'receipts')`,
      [chain.id, dataset.name, number],
    );
  }
  await database.query(
    'INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES ($1, $2, $3, to_timestamp($4::float8))',
    [chain.id, number, hexBytes(block.header.hash), Number(recorded.block.timestamp)],
  );
  await database.query(
    `INSERT INTO sync_chains (chain_id, history_start, first_followed, finalized) VALUES ($1, 0, 0, $2)
     ON CONFLICT (chain_id) DO UPDATE SET finalized = greatest(sync_chains.finalized, excluded.finalized)`,
    [chain.id, number],
  );
}

async function copy(database: Database, { table }: Dataset, rows: readonly unknown[]): Promise<void> {
  await database.transaction((transaction) =>
    transaction.copy(
      table.name,
      table.columns,
      rows.map((row) => table.copyLine(row)),
    ),
  );
}

function wholeBlock({ block: { transactions, ...header }, receipts }: RecordedBlock): {
  readonly number: number;
  readonly block: WholeBlock;
} {
  const number = Number(header.number);
  const byHash = new Map(receipts.map((receipt) => [String(receipt.transactionHash).toLowerCase(), receipt]));
  const executed = transactions.flatMap((raw, index) => {
    const receipt = byHash.get(String(raw.hash).toLowerCase());
    return receipt === undefined ? [] : [executedTransaction(raw, parseReceipt(receipt), index)];
  });
  const given = { number, hash: parseHash(String(header.hash)), raw: header } as WholeBlock['header'];
  return { number, block: { header: given, transactions: executed, internalTransactions: [] } };
}

/** What the logs of its receipts say, decoded as they are where a block is read. */
function statsOf(chain: Chain, recorded: RecordedBlock) {
  const { transactions } = wholeBlock(recorded).block;
  const counted = recorded.block.transactions.filter((one) => expectedTransaction(chain, recorded, one) !== null);
  const own = new Set(counted.map(({ hash }) => String(hash).toLowerCase()));
  const logs = transactions.filter(({ hash }) => own.has(hash)).flatMap((one) => one.logs);
  const tokens = logs.filter((log) => decodeErc20Transfer(log, chain) !== null);
  return {
    transactions: { total: String(counted.length) },
    nft_transfers: { total: String(decodeNftTransfers(logs, chain).transfers.length) },
    token_transfers: { total: String(tokens.length) },
  };
}
