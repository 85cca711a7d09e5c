import type { Chain } from '@chainstead/chains';
import type { Log } from '@chainstead/core';
import { asSql, type ReadDatabase, sql } from '@chainstead/db';
import { IS_GIVING_SIDE } from '@chainstead/db/column-types';
import { readPackedPage } from '@chainstead/db/packed-rows';
import { decodeErc20Transfer, decodeNftTransfers } from '@chainstead/events/token-events';
import { inside, NotFoundError, textParameter, view, wire } from '@chainstead/http';
import { InconsistentPageError, readConsistentPage } from '@chainstead/pages';
import { callsOf } from '../abis/abi-books.ts';
import { logs } from '../contract-logs/dataset.ts';
import { blockHeaders } from '../headers/dataset.ts';
import { readStoredHeader } from '../headers/stored-header.ts';
import { findCoveredBlock, readCoveredBlock } from '../indexed/find-covered-block.ts';
import { readStoredLogs, type StoredLog } from '../indexed/stored-logs.ts';
import { readInternalTransactionsOfBlock } from '../internal-transactions.ts';
import type { OnDemandReads, TracingRequest } from '../on-demand-reads.ts';
import { type BlockPlace, blockKind, type FoundBlock, parseBlockPlace } from '../reading/read-block.ts';
import type { BlockRecord } from '../records/block-record.ts';
import { blockView } from '../records/block-response.ts';
import { labelsOfTransactions, type TransactionRecord } from '../records/transaction-record.ts';
import { shownMarks } from '../records/transaction-response.ts';
import { transactions } from '../stored/datasets.ts';
import { readStored, STORED_COLUMNS, type StoredTransaction } from '../stored/stored-transaction.ts';
import {
  asksInternal,
  defineRoute,
  includeParameter,
  isNotModified,
  NOT_MODIFIED,
  readConfirmations,
  type Sourced,
} from './routes.ts';

const PLACE = `a block number (a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, decimal or hexadecimal with 0x), a block hash (0x and 64 hexadecimal digits), latest, safe, finalized or earliest`;

const placeParameter = textParameter(PLACE, parseBlockPlace).openapi({
  type: 'string',
  description: `Format: ${PLACE}. latest is the newest indexed block.`,
  example: '15000000',
});

/** docs/api/blocks.md#blocks */
export const blockRoute = defineRoute({
  path: '/api/v2.2/block/{block_number_or_hash}',
  operationId: 'getBlock',
  tag: 'Blocks and transactions',
  summary: 'Get a block with its transactions',
  description:
    'Served from the index if it contains all transactions and logs of the chain, otherwise read from a node; proven by its header. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.',
  params: [{ block_number_or_hash: placeParameter }],
  query: ['chain', { include: includeParameter }],
  response: { description: 'The block', schema: blockView.schema },
  otherResponses: NOT_MODIFIED,
  errors: [404],
  async answer({ services, reads, block_number_or_hash: at, chain, include, requester, c }) {
    const reading = { ...services, chain, requester };
    const found = await findBlock(reads, reading, at);
    const { block, transactions, finalized } = found;
    const internal = asksInternal(include)
      ? await readInternalTransactionsOfBlock(reading, { ...block, finalized })
      : undefined;
    const shown = transactions.map((transaction) => ({
      ...{ block, transaction },
      internal: internal && (internal.get(transaction.hash) ?? null),
    }));
    const [labelOf, booksOf, confirmations] = await Promise.all([
      labelsOfTransactions(reads, chain, transactions),
      services.abis.forPage(reads, chain, callsOf(shown)),
      readConfirmations(reads, chain, block.number),
    ]);
    const marks = shownMarks({ ...found, confirmations }, internal);
    const answer = blockView.show(chain, block, shown, { labelOf, booksOf }, marks);
    // Tags move, and a node with traces may be added.
    const isLasting = !isTag(at) && internal !== null;
    return isLasting && isNotModified(c, answer) ? c.body(null, 304) : answer;
  },
});

const { digits } = wire;
const total = inside(
  view(null, (count: number) => count, { total: digits({ example: '152' }, (count) => String(count)) }),
);

const blockStatsView = view('BlockStats', (counts: BlockCounts) => counts, {
  transactions: total(),
  nft_transfers: total.of('nftTransfers'),
  token_transfers: total.of('tokenTransfers'),
});

export const blockStatsRoute = defineRoute({
  path: '/api/v2.2/block/{block_number_or_hash}/stats',
  operationId: 'getBlockStats',
  tag: 'Blocks and transactions',
  summary: 'Get the number of transactions and transfers of a block',
  description:
    'Served from the index if it contains all transactions and transfers of the block, otherwise read from a node; proven by its header. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.',
  params: [{ block_number_or_hash: placeParameter }],
  query: ['chain'],
  response: { description: 'The block statistics', schema: blockStatsView.schema },
  errors: [404],
  async answer({ services, reads, block_number_or_hash: at, chain, requester }) {
    const stored = await countStoredBlock(reads, chain, at);
    return blockStatsView.show(
      stored ?? countBlock(chain, await readThrough({ ...services, chain, requester }, at)),
    );
  },
});

function isTag(at: BlockPlace): boolean {
  return typeof at === 'string' && !at.startsWith('0x');
}

async function findBlock(
  reads: ReadDatabase,
  reading: TracingRequest,
  at: BlockPlace,
): Promise<FoundBlock & Sourced> {
  const stored = await findStoredBlock(reads, reading.chain, at);
  if (stored !== null) return { ...stored, source: 'indexed' };
  return { ...(await readThrough(reading, at)), source: 'node' };
}

/** @throws NotFoundError (404) if no node has it, and as {@link OnDemandReads.read} */
async function readThrough({ onDemandReads, chain, requester }: TracingRequest, at: BlockPlace) {
  const { found } = await onDemandReads.read({
    chain,
    kind: blockKind,
    question: { at },
    // A tag refers to another block after a while.
    isLasting: (answer) => !isTag(at) && answer.found?.finalized === true,
    requester,
  });
  if (found === null) throw new NotFoundError('Block not found');
  return found;
}

const COUNTED_DATASETS = [transactions.name, 'erc20-transfers', 'nft-transfers'];

/** Null: not stored, not proven, or unresolved ({@link findCoveredBlock}). */
async function countStoredBlock(
  database: ReadDatabase,
  chain: Chain,
  at: BlockPlace,
): Promise<BlockCounts | null> {
  const block = await findCoveredBlock(database, chain, at, COUNTED_DATASETS);
  if (block?.proof !== 'receipts+transactions') return null;
  const ofBlock = sql`chain_id = ${chain.id} AND block_number = ${block.number}::int`;
  const [counts] = await database.select<BlockCounts>(
    sql`WITH own AS MATERIALIZED (SELECT transaction_index FROM transactions WHERE ${ofBlock})
     SELECT (SELECT count(*) FROM own) AS transactions,
       (SELECT count(*) FROM nft_transfers WHERE ${ofBlock} AND ${IS_OWN}) AS "nftTransfers",
       (SELECT count(*) FROM erc20_transfer_sides WHERE ${ofBlock} AND ${IS_OWN} AND ${asSql(IS_GIVING_SIDE)}) AS "tokenTransfers"`,
  );
  return counts ?? null;
}

/** Nodes list others too, whose transfers are stored. */
const IS_OWN = sql`transaction_index IN (SELECT transaction_index FROM own)`;

interface BlockCounts {
  readonly transactions: number;
  readonly nftTransfers: number;
  readonly tokenTransfers: number;
}

function countBlock(
  chain: Chain,
  { block, transactions }: { readonly block: BlockRecord; readonly transactions: readonly TransactionRecord[] },
): BlockCounts {
  const logs = transactions.flatMap((transaction) => logsOf(transaction, block));
  return {
    transactions: transactions.length,
    nftTransfers: decodeNftTransfers(logs, chain).transfers.length,
    tokenTransfers: logs.filter((log) => decodeErc20Transfer(log, chain) !== null).length,
  };
}

function logsOf({ hash, index: transactionIndex, logs }: TransactionRecord, block: BlockRecord): Log[] {
  return logs.map(({ index: logIndex, ...log }) => ({
    ...log,
    blockNumber: block.number,
    blockHash: block.hash,
    blockTimestamp: block.timestamp,
    transactionHash: hash,
    transactionIndex,
    logIndex,
  }));
}

/** Null: part is not stored. @throws {InconsistentPageError} if replaced repeatedly meanwhile */
async function findStoredBlock(database: ReadDatabase, chain: Chain, at: BlockPlace) {
  if (chain.transactions.mode !== 'all' || chain.logs !== 'all') return null;
  return readConsistentPage(() => readOnce(database, chain, at));
}

async function readOnce(database: ReadDatabase, chain: Chain, at: BlockPlace): Promise<FoundBlock | null> {
  const block = await findCoveredBlock(database, chain, at, DATASETS);
  if (block === null) return null;
  const [header, stored, ofLogs] = await Promise.all([
    readStoredHeader(database, chain, block),
    readTransactions(database, chain, block.number),
    readStoredLogs(database, chain, { block: block.number }),
  ]);
  // Separate reads are consistent if the block is still the same, and complete.
  const again = await readCoveredBlock(database, chain, block.number, DATASETS);
  if (again?.hash !== block.hash) throw new InconsistentPageError(block.number);
  const records = recordsOf(stored, ofLogs);
  if (header === null || records?.length !== header.transactionCount) return null;
  return { block: header.record, transactions: records, proof: again.proof, finalized: again.finalized };
}

const DATASETS = [transactions.name, logs.name, blockHeaders.name];

async function readTransactions(database: ReadDatabase, { id }: Chain, block: number) {
  const { rows } = await readPackedPage(
    database,
    STORED_COLUMNS,
    (select) =>
      sql`WITH found AS MATERIALIZED (SELECT * FROM transactions WHERE chain_id = ${id} AND block_number = ${block}::int) SELECT ${select} FROM ${STORED_COLUMNS.fitting('found')}`,
  );
  return rows.map(readStored).toSorted((left, right) => left.record.index - right.record.index);
}

/** Null: one lacks calldata, or has an unverified sender. */
function recordsOf(
  stored: readonly StoredTransaction[],
  ofLogs: readonly StoredLog[],
): TransactionRecord[] | null {
  const byTransaction = Map.groupBy(ofLogs, ({ transactionHash }) => transactionHash);
  const records = stored.flatMap(({ record, input, isSenderRecovered }) => {
    if (input === null || !isSenderRecovered) return [];
    return { ...record, input, logs: (byTransaction.get(record.hash) ?? []).map((log) => log.record) };
  });
  return records.length === stored.length ? records : null;
}
