import type { Chain } from '@chainstead/chains';
import { type BlockRange, type Hash, intersectRanges, mergeRanges, subtractRanges } from '@chainstead/core';
import { parseReceipt } from '@chainstead/rpc';
import { listCoverage } from '../coverage/coverage.ts';
import type { CoveredRange } from '../coverage/retained-from.ts';
import { listSubjectRanges, type RangeSubject } from '../coverage/subject.ts';
import type { Dataset, DecodeContext } from '../dataset/dataset.ts';
import type { BlockPart } from '../dataset/whole-block.ts';
import { ReorgedWhileReadingError, UnprovenBlockError } from '../errors.ts';
import type { BlockFacts } from '../read/decoded-batch.ts';
import { wholeBlockReader } from '../read/executed-transactions.ts';
import { readWatchedBlock } from '../read/read-watched-block.ts';
import { commitChunk } from './commit-chunk.ts';
import { refuseWithoutSent } from './history-record.ts';
import {
  awaitMore,
  endOfTurn,
  type HistoryOutcome,
  type HistoryTurn,
  runRisky,
  type SentTransaction,
} from './history-turn.ts';
import { filtersOf } from './read-subject-logs.ts';

const LISTED = 1_000;

/** @returns `waits` while a wallet search finds the transactions */
export async function readSentRows(turn: HistoryTurn, signal: AbortSignal): Promise<HistoryOutcome> {
  const { chain, database, subject, sentTransactions: sent, maxCalls } = turn;
  if (sent === undefined) return 'done';
  const searched = await sent.knownBlocks(database, chain, subject.address);
  let isMissing = false;
  for (const dataset of turn.datasets.filter((candidate) => filtersOf(candidate, chain, subject).length > 0)) {
    const missing = await missingBlocks(turn, dataset);
    isMissing ||= subtractRanges(missing, searched).length > 0;
    for (const range of intersectRanges(missing, searched).toReversed()) {
      const ended = await readSentOf(turn, dataset, range, signal);
      if (ended !== null) return ended;
    }
  }
  if (!isMissing) return 'done';
  const obstacle = await sent.search(database, chain, subject.address, maxCalls);
  if (obstacle === null) return awaitMore(turn, subject, 'Transactions that the account sent are being searched');
  await refuseWithoutSent(database, subject, obstacle);
  return 'refused';
}

const sentSubject = ({ subject }: HistoryTurn): RangeSubject => ({ ...subject, kind: 'trader-sent' });

async function missingBlocks(turn: HistoryTurn, { name }: Dataset): Promise<readonly BlockRange[]> {
  const { chain, database, subject } = turn;
  const ofDataset = (records: readonly CoveredRange[]) =>
    records.flatMap(({ dataset, range }) => (dataset === name ? [range] : []));
  const ofLogs = ofDataset(await listSubjectRanges(database, subject));
  const done = ofDataset(await listSubjectRanges(database, sentSubject(turn)));
  const coverage = ofDataset(await listCoverage(database, chain.id));
  return subtractRanges(ofLogs, mergeRanges([...done, ...coverage]));
}

async function readSentOf(turn: HistoryTurn, dataset: Dataset, range: BlockRange, signal: AbortSignal) {
  const { chain, database, subject, sentTransactions: sent } = turn;
  let { to } = range;
  for (;;) {
    signal.throwIfAborted();
    const ended = await endOfTurn(turn);
    if (ended !== null) return ended;
    const wanted = { account: subject.address, range: { from: range.from, to }, limit: LISTED };
    const found = (await sent?.list(database, chain, wanted)) ?? [];
    const oldest = found.length < LISTED ? undefined : found.at(-1)?.block;
    const from = oldest ?? range.from;
    const chunk = { dataset, range: { from, to }, found, calls: 0 };
    const stopped = await writeTransactions(turn, { ...chunk, recordedAs: sentSubject(turn) }, signal);
    if (stopped !== null || from === range.from) return stopped;
    to = from - 1;
  }
}

interface TransactionsRead {
  /** Blocks without a row are left out. */
  readonly rows: ReadonlyMap<number, readonly unknown[]>;
  readonly blocks: ReadonlyMap<number, BlockFacts>;
  readonly calls: number;
}

type TransactionsReading = Pick<HistoryTurn, 'chain' | 'pool' | 'logger' | 'subject'> & {
  readonly dataset: Dataset;
};

const BLOCKS_AT_ONCE = 4;
const CALLS_PER_BLOCK = 2;
const PARTS: ReadonlySet<BlockPart> = new Set(['transactions']);
const NO_NEEDS = { internalTransfers: false, transactions: false } as const;

/** Rows equal those of the backfill. @throws ReorgedWhileReadingError, UnprovenBlockError */
async function readTransactions(
  reading: TransactionsReading,
  found: readonly SentTransaction[],
  signal: AbortSignal,
): Promise<TransactionsRead> {
  const wanted = await selectByReceipts(reading, found, signal);
  const byBlock = [...Map.groupBy(wanted, ({ block }) => block)];
  const rows = new Map<number, readonly unknown[]>();
  const blocks = new Map<number, BlockFacts>();
  for (let start = 0; start < byBlock.length; start += BLOCKS_AT_ONCE) {
    const some = byBlock.slice(start, start + BLOCKS_AT_ONCE);
    const read = await Promise.all(
      some.map(([block, ofBlock]) =>
        readBlockRows(reading, block, new Set(ofBlock.map(({ hash }) => hash)), signal),
      ),
    );
    for (const { facts, rows: ofBlock } of read) {
      if (ofBlock.length === 0) continue;
      rows.set(facts.number, ofBlock);
      blocks.set(facts.number, facts);
    }
  }
  return { rows, blocks, calls: found.length + CALLS_PER_BLOCK * byBlock.length };
}

async function selectByReceipts(
  { chain, pool, dataset }: TransactionsReading,
  found: readonly SentTransaction[],
  signal: AbortSignal,
): Promise<readonly SentTransaction[]> {
  if (found.length === 0) return [];
  const calls = found.map(({ hash }) => [hash]);
  const answers = await pool.requestMany('eth_getTransactionReceipt', calls, { signal });
  return found.filter(({ hash, block }, index) => {
    const json = answers[index]?.value ?? null;
    if (json === null) throw reorged(chain, `no node has the receipt of ${hash}`);
    const receipt = parseReceipt(json);
    if (receipt.transactionHash !== hash || receipt.logs.some(({ blockNumber }) => blockNumber !== block))
      throw reorged(chain, `the receipt of ${hash} is not of block ${block}`);
    return dataset.transactionHistories?.mayHaveRows(receipt.logs, chain) === true;
  });
}

async function readBlockRows(
  { chain, pool, logger, dataset, subject }: TransactionsReading,
  number: number,
  hashes: ReadonlySet<Hash>,
  signal: AbortSignal,
) {
  const reader = { chain, pool, logger, policy: chain.proofPolicy, parts: PARTS };
  const block = await readWatchedBlock(reader, number, NO_NEEDS, signal);
  if (block === null) throw reorged(chain, `no node has block ${number}`);
  const whole = wholeBlockReader(block)('transactions');
  const { upstream, parts } = block;
  if (whole === null) {
    const reason = parts.transactions?.reason ?? 'transactions are unavailable';
    const facts = { chain: chain.key, block: number, reason, policy: chain.proofPolicy };
    throw new UnprovenBlockError({ ...facts, upstreams: [upstream] });
  }
  const transactions = whole.transactions.filter(({ hash }) => hashes.has(hash));
  if (transactions.length !== hashes.size) throw reorged(chain, `block ${number} lacks a transaction`);
  const { header } = block;
  const context: DecodeContext = { chain, timestampOf: () => header.timestamp };
  const rows = dataset.wholeBlocks?.decode({ ...whole, transactions }, context) ?? [];
  const own = rows.filter((row) => dataset.transactionHistories?.isOf(row, subject.address) === true);
  return { facts: header, rows: own };
}

function reorged(chain: Chain, what: string): ReorgedWhileReadingError {
  return new ReorgedWhileReadingError({ chain: chain.key, what });
}

interface TransactionsChunk {
  readonly dataset: Dataset;
  /** The found transactions are all of these blocks. */
  readonly range: BlockRange;
  readonly found: readonly SentTransaction[];
  readonly calls: number;
  /** @default the subject */
  readonly recordedAs?: RangeSubject;
}

const PIECE = 100;

/** Each piece is recorded with its blocks. Null: the turn continues. */
export async function writeTransactions(
  turn: HistoryTurn,
  { dataset, range, found, calls, recordedAs }: TransactionsChunk,
  signal: AbortSignal,
): Promise<HistoryOutcome | null> {
  const { chain, pool, logger, subject } = turn;
  let unrecorded = calls;
  for (const [index, piece] of piecesOf(found, range).entries()) {
    signal.throwIfAborted();
    // The first piece is always written, so that every turn makes progress.
    const ended = index === 0 ? null : await endOfTurn(turn);
    if (ended !== null) return ended;
    await runRisky(turn, async () => {
      const read = await readTransactions({ chain, pool, logger, dataset, subject }, piece.found, signal);
      turn.made += read.calls;
      const part = { found: { rows: read.rows }, blocks: read.blocks, calls: unrecorded + read.calls };
      const chunk = { subject, dataset, range: piece.range, read: part, ...(recordedAs && { recordedAs }) };
      await commitChunk(turn, chunk, signal);
    });
    unrecorded = 0;
  }
  return null;
}

export function piecesOf(
  found: readonly SentTransaction[],
  range: BlockRange,
  size: number = PIECE,
): readonly { readonly range: BlockRange; readonly found: readonly SentTransaction[] }[] {
  const unique = new Map<Hash, SentTransaction>(found.map((transaction) => [transaction.hash, transaction]));
  const newestFirst = [...unique.values()].toSorted((a, b) => b.block - a.block);
  const pieces: { range: BlockRange; found: SentTransaction[] }[] = [];
  let held: SentTransaction[] = [];
  let { to } = range;
  for (const [index, transaction] of newestFirst.entries()) {
    held.push(transaction);
    const { block } = transaction;
    const next = newestFirst[index + 1];
    if (next === undefined || held.length < size || next.block === block) continue;
    pieces.push({ range: { from: block, to }, found: held });
    [held, to] = [[], block - 1];
  }
  return [...pieces, { range: { from: range.from, to }, found: held }];
}
