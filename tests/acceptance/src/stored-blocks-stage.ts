/** Recorded blocks in the tables of chains that keep everything, served of their rows alone: no node is there, and no request may cause a call. */
import { type Chain, type ChainRegistry, createChainRegistry } from '@chainstead/chains';
import { parseHash, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { decodeErc20Transfer, decodeNftTransfers } from '@chainstead/events/token-events';
import { parseHeader, parseReceipt, placeLogs } from '@chainstead/rpc';
import { executedTransaction } from '@chainstead/sync';
import type { Dataset, WholeBlock } from '@chainstead/sync/datasets';
import {
  type Closable,
  checkAnswers,
  closeOf,
  coverBlocks,
  createPartitions,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { createDatasetRoutes, datasets } from 'chainstead/src/datasets/index.ts';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { expectedTransaction, type RecordedBlock } from './expected-transactions.ts';
import { type Recording, readRecorded, readRecording } from './recorded-evm-blocks.ts';

const STORED = [
  'transactions',
  'account-transactions',
  'block-headers',
  'logs',
  'erc20-transfers',
  'nft-transfers',
];

export interface StoredBlocksStage extends Closable {
  chainOf(name: string): Chain;
  ask(path: string): Promise<{ readonly status: number; readonly body: unknown }>;
}

export async function openStoredBlocksStage(
  { database }: ScratchDatabase,
  recordings: readonly Recording[],
): Promise<StoredBlocksStage> {
  await using parts = new AsyncDisposableStack();
  const ids = readRecorded('chain-ids.json') as Record<string, number>;
  const names = [...new Set(recordings.map(({ chain }) => chain))];
  const known = createChainRegistry();
  const additional = names.flatMap((key) =>
    known.find(ids[key] ?? 0) === null ? [{ key, id: ids[key] ?? 0 }] : [],
  );
  const registry = keepingAll(createChainRegistry({ additional }));
  const chainOf = (name: string): Chain => registry.get(ids[name] ?? name);
  const logger = silentLogger();
  const chains = names.map(chainOf);
  for (const chain of chains)
    for (const { name, table } of datasets)
      if (table.isPartitioned && STORED.includes(name)) await createPartitions(database, table.name, chain.id);
  for (const recording of recordings) await store(database, chainOf(recording.chain), readRecording(recording));
  const routes = createDatasetRoutes({
    ...{ database, logger, chains, clock: systemClock },
    onDemand: { waitMs: 1_000, maxCalls: 0, perKey: 1_000 },
  });
  const api = checkAnswers(await createApiUnderTest(database, registry, routes, { chains, datasets: STORED }));
  return {
    chainOf,
    async ask(path) {
      const answer = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': TEST_KEY } });
      return { status: answer.status, body: await answer.json() };
    },
    ...closeOf(parts),
  };
}

/** What the logs of its receipts say, decoded as they are where a block is read. */
export function statsOf(chain: Chain, recorded: RecordedBlock) {
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

/** The same chains, as an operator sets them who keeps everything. */
function keepingAll(registry: ChainRegistry): ChainRegistry {
  const known = new Map<number, Chain>();
  const keeping = (chain: Chain): Chain => {
    const made: Chain = known.get(chain.id) ?? {
      ...{ ...chain, logs: 'all' },
      transactions: { mode: 'all', input: 'full', verifiesSenders: true },
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
    await coverBlocks(database, chain.id, dataset.name, number, number);
  }
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${chain.id}, ${number}, ${hexBytes(block.header.hash)}, to_timestamp(${Number(recorded.block.timestamp)}::float8))`,
  );
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, finalized) VALUES (${chain.id}, 0, 0, ${number})
     ON CONFLICT (chain_id) DO UPDATE SET finalized = greatest(sync_chains.finalized, excluded.finalized)`,
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
  const parsed = receipts.map(parseReceipt);
  const logs = parsed.flatMap((receipt) => receipt.logs);
  // One recorded node gives a number twice in a block, whose receipts are proven.
  const isRepeated = new Set(logs.map(({ logIndex }) => logIndex)).size < logs.length;
  const numbered = isRepeated ? placeLogs(parsed).receipts : parsed;
  const byHash = new Map(numbered.map((receipt) => [receipt.transactionHash, receipt]));
  const executed = transactions.flatMap((raw, index) => {
    const receipt = byHash.get(parseHash(String(raw.hash).toLowerCase()));
    return receipt === undefined ? [] : [executedTransaction(raw, receipt, index)];
  });
  return { number, block: { header: parseHeader(header), transactions: executed, internalTransactions: [] } };
}
