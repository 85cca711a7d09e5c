import { createWalletHistory } from '@chainstead/answers';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, parseHash, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexBytes } from '@chainstead/db';
import { erc20Approvals, erc20Transfers } from '@chainstead/erc20';
import { type ApiServer, serveApi } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createJobs } from '@chainstead/jobs';
import { nftTrades, nftTransfers } from '@chainstead/nft';
import { parseReceipt } from '@chainstead/rpc';
import { createStateQuestions, createStateWorker } from '@chainstead/state';
import { createKeptSubjects, type Dataset, executedTransaction, type WholeBlock } from '@chainstead/sync';
import {
  type ChainNode,
  type Closable,
  closeOf,
  createPartitions,
  createScratchDatabase,
  examplePool,
  loadRecordedChain,
  type Moralis,
  recordedEvmFolder,
  type ScratchDatabase,
  serveChain,
  startOfficialSdk,
} from '@chainstead/testkit';
import { accountTransactions, internalTransactionsReader, transactions } from '@chainstead/transactions';
import { logs } from '@chainstead/transactions/datasets';
import type { z } from '@hono/zod-openapi';
import { insightReader } from '../insight/insight-reader.ts';
import { walletTransactionsReader } from '../reading/wallet-transactions-reader.ts';
import { walletHistorySchema } from '../records/history-response.ts';
import { createHistoryRoutes } from '../routes/create-history-routes.ts';

/** Blocks that were recorded whole: of others some fields of transactions are lost, so that these don't come to their hashes. */
export const FIRST_BLOCK = 12_244_145;
export const LAST_BLOCK = 14_000_021;

export type HistoryAnswer = z.infer<typeof walletHistorySchema>;

/** What tests change while the routes are served. */
export interface HistorySettings {
  waitMs: number;
  maxCalls: number;
  /** Which transactions are kept of the chain. */
  mode: Chain['transactions']['mode'];
  /** Whether coins that move inside of them are. */
  internalTransfers: Chain['internalTransfers'];
  /** Whether all logs are: they are stored, and counted as kept where this says so. */
  logs: Chain['logs'];
  /** Where its price of ether is read from. */
  etherPrice: Chain['etherPrice'];
}

const SETTINGS: HistorySettings = {
  ...{ waitMs: 15_000, maxCalls: 1_000, mode: 'all', internalTransfers: 'off' },
  logs: createChainRegistry().get('eth').logs,
  etherPrice: createChainRegistry().get('eth').etherPrice,
};

/** Recorded blocks of Ethereum as the sync engine would have stored them, behind the routes, with a worker that asks a node of the same blocks. */
export interface HistoryStage extends Closable {
  readonly scratch: ScratchDatabase;
  readonly chain: Chain;
  readonly node: ChainNode;
  readonly server: ApiServer;
  readonly sdk: Moralis;
  readonly settings: HistorySettings;
  ask(path: string): Promise<{ readonly status: number; readonly body: unknown; readonly headers: Headers }>;
  /** An answer that keeps to the documented schema. @throws Error when it is none */
  get(path: string): Promise<HistoryAnswer>;
  /** The settings of the beginning. */
  reset(): void;
  /** Every page of a run. */
  pages(path: string): Promise<HistoryAnswer[]>;
}

/**
 * @param given whose database it is. @default one of its own, on one server
 * @throws Error where the recorded blocks are not beside the repository
 */
export async function openHistoryStage(given?: ScratchDatabase): Promise<HistoryStage> {
  await using parts = new AsyncDisposableStack();
  const folder = recordedEvmFolder();
  if (folder === null) throw new Error('The recorded blocks are not here');
  const source = await loadRecordedChain({
    ...{ folder, chain: 'ethereum' },
    blocks: { from: FIRST_BLOCK, to: LAST_BLOCK },
  });
  // A given database goes with the stage too.
  const scratch = parts.adopt(given ?? (await createScratchDatabase()), (one) => one.drop());
  const { database } = scratch;
  const settings: HistorySettings = { ...SETTINGS };
  const registry = createChainRegistry();
  const chain: Chain = {
    ...registry.get('eth'),
    get internalTransfers() {
      return settings.internalTransfers;
    },
    get logs() {
      return settings.logs;
    },
    get etherPrice() {
      return settings.etherPrice;
    },
    transactions: {
      ...{ input: 'full', provesSenders: true },
      get mode() {
        return settings.mode;
      },
    },
  };
  await storeBlocks(database, chain, [...source.blocksIn({ from: FIRST_BLOCK, to: LAST_BLOCK })]);
  const node = parts.adopt(await serveChain(source), (one) => one.close());
  const pool = parts.adopt(await examplePool(chain, node.url), (one) => one.close());
  const logger = silentLogger();
  const openJobs = async () =>
    parts.adopt(await createJobs({ databaseUrl: scratch.url, logger, metrics: createMetricsRegistry() }), (one) =>
      one.close(2_000),
    );
  const [jobs, workerJobs] = [await openJobs(), await openJobs()];
  const shared = { database, chains: [chain], clock: systemClock, logger };
  const questions = createStateQuestions({ ...shared, jobs });
  await createStateWorker({
    ...shared,
    ...{ jobs: workerJobs, chains: [{ chain, pool }], metrics: createMetricsRegistry() },
    readers: [walletTransactionsReader, internalTransactionsReader, insightReader],
  }).start();
  const walletHistory = createWalletHistory({
    ...{ jobs, chains: [chain], datasets: [erc20Transfers, nftTransfers], maxCalls: 0, perKey: 100 },
  });
  const routes = createHistoryRoutes({
    ...{ questions, walletHistory, chains: [chain], perKey: 100, clock: systemClock },
    kept: createKeptSubjects(database),
    get waitMs() {
      return settings.waitMs;
    },
    get maxCalls() {
      return settings.maxCalls;
    },
  });
  const find = (text: string) => (registry.find(text)?.id === chain.id ? chain : registry.find(text));
  const server = parts.adopt(
    await serveApi(await exampleApi(database, routes, { chains: { find } }), {
      host: '127.0.0.1',
      port: 0,
    }),
    (one) => one.close(),
  );
  const { Moralis: sdk } = await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url });
  const ask: HistoryStage['ask'] = async (path) => {
    const answer = await fetch(`${server.url}/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
    return { status: answer.status, body: await answer.json(), headers: answer.headers };
  };
  const get: HistoryStage['get'] = async (path) => {
    const { status, body } = await ask(path);
    if (status !== 200) throw new Error(`${path} was answered ${status}: ${JSON.stringify(body)}`);
    return walletHistorySchema.parse(body);
  };
  return {
    ...{ scratch, chain, node, server, sdk, settings, ask, get },
    reset: () => {
      Object.assign(settings, SETTINGS);
    },
    async pages(path) {
      const [bare] = path.split('?');
      const answers = [await get(path)];
      for (let cursor = answers[0]?.cursor ?? null; cursor !== null; cursor = answers.at(-1)?.cursor ?? null)
        answers.push(await get(`${bare}?cursor=${cursor}`));
      return answers;
    },
    ...closeOf(parts),
  };
}

type SourceBlock = Awaited<ReturnType<typeof loadRecordedChain>>['blocksIn'] extends (
  range: never,
) => Iterable<infer One>
  ? One
  : never;

async function storeBlocks(database: Database, chain: Chain, blocks: readonly SourceBlock[]): Promise<void> {
  const context = { chain, timestampOf: (number: number) => Number(headerOf(blocks, number).timestamp) };
  const whole = blocks.map(wholeBlock);
  const emitted = whole.flatMap((block) => block.transactions.flatMap((one) => one.logs));
  const store = async <Row>({ table }: Dataset<Row>, rows: readonly Row[]): Promise<void> => {
    await createPartitions(database, table.name, chain.id);
    await database.transaction((transaction) =>
      transaction.copy(
        table.name,
        table.columns,
        rows.map((row) => table.copyLine(row)),
      ),
    );
  };
  await store(erc20Transfers, erc20Transfers.decode(emitted, context));
  await store(erc20Approvals, erc20Approvals.decode(emitted, context));
  await store(nftTransfers, nftTransfers.decode(emitted, context));
  await store(logs, logs.decode(emitted, context));
  await store(nftTrades, nftTrades.decode(ofTopics(nftTrades.topics(chain)), context));
  await store(
    transactions,
    whole.flatMap((block) => transactions.wholeBlocks?.decode(block, context) ?? []),
  );
  await store(
    accountTransactions,
    whole.flatMap((block) => accountTransactions.wholeBlocks?.decode(block, context) ?? []),
  );
  for (const { number, hash, header } of blocks)
    await database.query(
      'INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES ($1, $2, $3, to_timestamp($4::float8))',
      [chain.id, number, hexBytes(hash), Number(header.timestamp)],
    );
  for (const { name } of [erc20Transfers, erc20Approvals, nftTransfers, accountTransactions, logs])
    await database.query(
      `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES ($1, $2, 0, $3, 'receipts')`,
      [chain.id, name, LAST_BLOCK],
    );

  function ofTopics(topics: readonly string[]) {
    const wanted = new Set(topics);
    return emitted.filter(({ topics: [topic0] }) => topic0 !== undefined && wanted.has(topic0));
  }
}

function headerOf(blocks: readonly SourceBlock[], number: number): SourceBlock['header'] {
  return blocks.find((block) => block.number === number)?.header ?? {};
}

function wholeBlock({ number, hash, header, transactions: given, receipts }: SourceBlock): WholeBlock {
  const byHash = new Map(receipts.map((receipt) => [String(receipt.transactionHash).toLowerCase(), receipt]));
  return {
    header: { number, hash: parseHash(hash), raw: header } as WholeBlock['header'],
    transactions: given.flatMap((raw, index) => {
      const receipt = byHash.get(String(raw.hash).toLowerCase());
      return receipt === undefined ? [] : [executedTransaction(raw, parseReceipt(receipt), index)];
    }),
    internalTransactions: [],
  };
}
