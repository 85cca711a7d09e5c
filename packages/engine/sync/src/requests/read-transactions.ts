import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { parseReceipt } from '@chainstead/rpc';
import type { Dataset, DecodeContext } from '../dataset/dataset.ts';
import type { BlockPart } from '../dataset/whole-block.ts';
import { ReorgedWhileReadingError, UnprovenBlockError } from '../errors.ts';
import type { BlockFacts } from '../read/decoded-batch.ts';
import { wholeBlockReader } from '../read/executed-transactions.ts';
import { readWatchedBlock } from '../read/read-watched-block.ts';
import type { HistoryTurn } from './history-turn.ts';
import type { SentTransaction } from './sent-transactions.ts';

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
export async function readTransactions(
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
