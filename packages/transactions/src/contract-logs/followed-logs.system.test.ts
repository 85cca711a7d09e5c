/** All logs of a chain, kept while it is followed and reorganised; and of recorded blocks. */
import { createWalletHistory } from '@chainstead/answers';
import { createMetricsRegistry, type Log, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexText } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createJobs } from '@chainstead/jobs';
import { createChainSync, createSyncMetrics } from '@chainstead/sync';
import {
  createPartitions,
  createScratchDatabase,
  createScriptedChain,
  exampleChain,
  examplePool,
  hashOf,
  listRecordedBlocks,
  readRecordedLogs,
  recordedData,
  type ScratchDatabase,
  type ScriptedChain,
  serveScriptedChain,
  timestampOf,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { contractLogsSchema } from './contract-logs-response.ts';
import { contractLogsRoute } from './contract-logs-route.ts';
import { logs } from './dataset.ts';

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());

interface Stored {
  readonly block: number;
  readonly index: number;
  readonly address: string;
  readonly topics: string;
  readonly data: string;
}

function storedLogs(database: Database, chainId: number): Promise<Stored[]> {
  const topics = [0, 1, 2, 3].map((place) => hexText(`topic${place}`));
  return database.query<Stored>(
    `SELECT block_number AS block, log_index AS index, ${hexText('address')} AS address, concat_ws(' ', ${topics.join(', ')}) AS topics,
       ${hexText('data')} AS data FROM logs WHERE chain_id = $1 ORDER BY 1, 2`,
    [chainId],
  );
}

function minedLogs(scripted: ScriptedChain): Stored[] {
  return scripted.blocksIn({ from: 1, to: scripted.head }).flatMap(({ number, receipts }) =>
    receipts.flatMap((receipt) =>
      (receipt.logs as readonly Record<string, string | string[]>[]).map((log) => ({
        block: number,
        index: Number(log.logIndex),
        address: String(log.address).toLowerCase(),
        topics: (log.topics as string[]).join(' '),
        data: String(log.data),
      })),
    ),
  );
}

test('every log of a followed chain is kept, and those of abandoned blocks are not', async () => {
  const id = 950_017;
  const chain = exampleChain({ id, logs: 'all', reorgDepthMax: 16, pollIntervalMs: 20, blockTimeMs: 100 });
  const scripted = createScriptedChain({ seed: 17, chainId: id, finalityDepth: 16 });
  scripted.mine(30);
  const node = await serveScriptedChain(scripted);
  onTestFinished(() => node.close());
  const pool = await examplePool(chain, node.url);
  onTestFinished(() => pool.close());
  const { database } = scratch;
  const stop = new AbortController();
  const running = createChainSync({
    ...{ chain, pool, database, datasets: [logs], logger: silentLogger(), clock: systemClock },
    metrics: createSyncMetrics(createMetricsRegistry()),
    settings: {
      startBlock: 1,
      endBlock: null,
      proof: 'strict',
      backfillProof: 'none',
      backfillOrder: 'newest-first',
      proverRate: 0,
    },
  }).run(stop.signal);
  const settled = () =>
    expect.poll(() => storedLogs(database, id), { timeout: 30_000, interval: 50 }).toEqual(minedLogs(scripted));
  await settled();
  for (const depth of [1, 4, 9, 2]) {
    scripted.reorg(depth, depth + 1);
    await settled();
    scripted.mine(2);
  }
  await settled();
  stop.abort();
  await running;
  expect(minedLogs(scripted).length).toBeGreaterThan(100);
});

const { isMissing, title } = recordedData('data/evm');
const folders = listRecordedBlocks().filter((folder) => folder.startsWith('ethereum/'));

describe.skipIf(isMissing)(title('recorded blocks of Ethereum'), () => {
  test('every contract’s logs are those of the receipts', async () => {
    const { database } = scratch;
    const chain = exampleChain();
    const recorded = folders.flatMap(readRecordedLogs);
    const blocks = [...new Set(recorded.map(({ blockNumber }) => blockNumber))];
    await database.transaction(async (transaction) => {
      await createPartitions(transaction, logs.table.name, chain.id);
      const rows = logs.decode(recorded, { chain, timestampOf });
      await transaction.copy(logs.table.name, logs.table.columns, rows.map(logs.table.copyLine));
      const lines = blocks.map((number) =>
        [
          chain.id,
          number,
          `\\\\x${hashOf(1, number).slice(2)}`,
          new Date(timestampOf(number) * 1_000).toISOString(),
        ].join('\t'),
      );
      await transaction.copy('blocks', ['chain_id', 'block_number', 'block_hash', 'block_timestamp'], lines);
    });
    await database.query(
      `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (1, 'logs', 0, $1, 'receipts')`,
      [Math.max(...blocks)],
    );
    const metrics = createMetricsRegistry();
    const jobs = await createJobs({ databaseUrl: scratch.url, logger: silentLogger(), metrics });
    onTestFinished(() => jobs.close());
    const walletHistory = createWalletHistory({ jobs, chains: [chain], datasets: [logs], perKey: 100, maxCalls: 0 });
    const api = await exampleApi(database, [contractLogsRoute({ walletHistory })]);
    const byContract = Map.groupBy(recorded, ({ address }) => address);
    expect(byContract.size).toBeGreaterThan(100);
    for (const [contract, own] of byContract) {
      const shown: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query = cursor === '' ? 'order=ASC&limit=40' : `cursor=${cursor}`;
        const answer = await api.request(`/api/v2.2/${contract}/logs?${query}`, {
          headers: { 'X-API-Key': EXAMPLE_KEY },
        });
        const page = contractLogsSchema.parse(await answer.json());
        expect(page.indexed.complete).toBe(true);
        shown.push(
          ...page.result.map((log) =>
            [
              log.block_number,
              log.transaction_index,
              log.log_index,
              log.transaction_hash,
              log.topic0,
              log.topic1,
              log.topic2,
              log.topic3,
              log.data,
            ].join(' '),
          ),
        );
        cursor = page.cursor;
      }
      expect(shown, contract).toEqual(own.toSorted(inOrder).map(lineOf));
    }
  });
});

function inOrder(one: Log, other: Log): number {
  return (
    one.blockNumber - other.blockNumber ||
    one.transactionIndex - other.transactionIndex ||
    one.logIndex - other.logIndex
  );
}

function lineOf(log: Log): string {
  const [topic0 = '', topic1 = '', topic2 = '', topic3 = ''] = log.topics;
  const place = [log.blockNumber, log.transactionIndex, log.logIndex, log.transactionHash];
  return [...place, topic0, topic1, topic2, topic3, log.data].join(' ');
}
