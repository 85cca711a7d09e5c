import { type Chain, createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, parseHash, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { erc20Approvals, erc20Transfers } from '@chainstead/erc20/requests';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createDueWork } from '@chainstead/jobs/worker';
import { nftTrades } from '@chainstead/nft';
import { nftTransfers } from '@chainstead/nft/requests';
import { addStateReads, createNodeReadQueue } from '@chainstead/node-reads';
import { createOnDemandBackfill } from '@chainstead/pages/on-demand';
import { parseReceipt } from '@chainstead/rpc';
import { executedTransaction } from '@chainstead/sync';
import type { Dataset, WholeBlock } from '@chainstead/sync/datasets';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import {
  type ChainNode,
  type Closable,
  closeOf,
  coverBlocks,
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
import { z } from '@hono/zod-openapi';
import { logs } from '../../datasets.ts';
import { internalTransactionsReader } from '../../reading/internal-transactions-reader.ts';
import { accountTransactions, transactions } from '../../stored/datasets.ts';
import { insightReader } from '../insight/insight-reader.ts';
import { walletTransactionsReader } from '../reading/wallet-transactions-reader.ts';
import { historyRowView, indexedHistoryView } from '../records/history-response.ts';
import { createHistoryRoutes } from '../routes/wallet-stats-route.ts';

/** Blocks that were recorded completely: others lack some transaction fields, so that they don't match their hashes. */
export const FIRST_BLOCK = 12_244_145;
export const LAST_BLOCK = 14_000_021;

const answerSchema = z.object({
  page: z.int().min(1),
  page_size: z.int().min(1),
  limit: z.int().min(1),
  cursor: z.string().nullable(),
  synced_at: z.int().nullable(),
  indexed: indexedHistoryView.schema,
  result: z.array(historyRowView.schema),
});

export type HistoryAnswer = z.infer<typeof answerSchema>;

/** Settings that tests change while the routes are served. */
export interface HistorySettings {
  waitMs: number;
  maxCalls: number;
  /** Which transactions of the chain are stored. */
  mode: Chain['transactions']['mode'];
  /** Whether internal native token transfers are stored. */
  internalTransfers: Chain['internalTransfers'];
  /** Whether all logs are: they are stored, and count as covered with this setting. */
  logs: Chain['logs'];
  /** The source of its ether price. */
  etherPrice: Chain['etherPrice'];
}

const SETTINGS: HistorySettings = {
  ...{ waitMs: 15_000, maxCalls: 1_000, mode: 'all', internalTransfers: 'off' },
  logs: createChainRegistry().get('eth').logs,
  etherPrice: createChainRegistry().get('eth').etherPrice,
};

/**
 * Recorded Ethereum blocks as the sync engine stores them, behind the routes, with a worker that reads a node with the
 * same blocks.
 */
export interface HistoryStage extends Closable {
  readonly scratch: ScratchDatabase;
  readonly chain: Chain;
  readonly node: ChainNode;
  readonly server: ApiServer;
  readonly sdk: Moralis;
  readonly settings: HistorySettings;
  ask(path: string): Promise<{ readonly status: number; readonly body: unknown; readonly headers: Headers }>;
  /** Returns a response that matches the documented schema. @throws Error if it does not */
  get(path: string): Promise<HistoryAnswer>;
  /** Restores the initial settings. */
  reset(): void;
  /** All pages of a run. */
  pages(path: string): Promise<HistoryAnswer[]>;
}

/**
 * @param given the database to use.
 * @default a separate one, on one server
 * @throws Error if the recorded blocks are not next to the repository
 */
export async function openHistoryStage(given?: ScratchDatabase): Promise<HistoryStage> {
  await using parts = new AsyncDisposableStack();
  const folder = recordedEvmFolder();
  if (folder === null) throw new Error('The recorded blocks are not here');
  const source = await loadRecordedChain({
    ...{ folder, chain: 'ethereum' },
    blocks: { from: FIRST_BLOCK, to: LAST_BLOCK },
  });
  // A given database is dropped with the stage too.
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
      ...{ input: 'full', verifiesSenders: true },
      get mode() {
        return settings.mode;
      },
    },
  };
  await storeBlocks(database, chain, [...source.blocksIn({ from: FIRST_BLOCK, to: LAST_BLOCK })]);
  const node = parts.adopt(await serveChain(source), (one) => one.close());
  const pool = parts.adopt(await examplePool(chain, node.url), (one) => one.close());
  const logger = silentLogger();
  const shared = { database, chains: [chain], clock: systemClock, logger };
  const nodeReads = createNodeReadQueue(shared);
  const metrics = createMetricsRegistry();
  const dueWork = parts.adopt(createDueWork({ ...shared, metrics }), (one) => one.close(2_000));
  addStateReads(dueWork, {
    ...shared,
    ...{ chains: [{ chain, pool }], metrics },
    readers: [walletTransactionsReader, internalTransactionsReader, insightReader],
  });
  dueWork.start();
  const onDemandBackfill = createOnDemandBackfill({
    ...{ chains: [chain], datasets: [erc20Transfers, nftTransfers], maxCalls: 0, perKey: 100 },
  });
  const routes = createHistoryRoutes({
    ...{ nodeReads, onDemandBackfill, chains: [chain], perKey: 100, clock: systemClock },
    projections: createSubjectProjections(database),
    get maxCalls() {
      return settings.maxCalls;
    },
  });
  const find = (text: string) => (registry.find(text)?.id === chain.id ? chain : registry.find(text));
  const server = parts.adopt(
    await serveApi(await exampleApi(database, routes, { chains: { find }, onDemand: settings }), {
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
    return answerSchema.parse(body);
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
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${chain.id}, ${number}, ${hexBytes(hash)}, to_timestamp(${Number(header.timestamp)}::float8))`,
    );
  for (const { name } of [erc20Transfers, erc20Approvals, nftTransfers, accountTransactions, logs])
    await coverBlocks(database, chain.id, name, 0, LAST_BLOCK);

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
