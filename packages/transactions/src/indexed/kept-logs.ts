import type { PageBlock } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { hexBytes, type ReadDatabase } from '@chainstead/db';
import { logs } from '../contract-logs/dataset.ts';
import type { TransactionRecord } from '../records/transaction-record.ts';
import type { StoredTransaction } from '../stored/stored-transaction.ts';
import { readStoredLogsOf } from './stored-logs.ts';

/** Transactions whose logs are to be shown, and the block of each. */
interface ShownTransactions {
  readonly transactions: readonly StoredTransaction[];
  blockOf(transaction: StoredTransaction): PageBlock;
}

/**
 * The logs of a page's transactions, of a chain that keeps all logs, by the transaction's hash. Those of blocks that lack them, or were replaced while they
 * were read, are missing: a node has to be asked for them.
 */
export async function readKeptLogs(
  database: ReadDatabase,
  chain: Chain,
  { transactions, blockOf }: ShownTransactions,
): Promise<ReadonlyMap<Hash, TransactionRecord['logs']>> {
  if (chain.logs !== 'all') return new Map();
  const before = await coveredOf(database, chain, transactions.map(blockOf));
  const covered = transactions.filter(({ blockNumber }) => before.has(blockNumber));
  if (covered.length === 0) return new Map();
  const places = covered.map(({ blockNumber, record }) => ({ block: blockNumber, transaction: record.index }));
  const byTransaction = Map.groupBy(
    await readStoredLogsOf(database, chain, places),
    ({ transactionHash }) => transactionHash,
  );
  // What was read one after the other is of one moment where the block is still the same, and all of it is still kept.
  const after = await coveredOf(database, chain, covered.map(blockOf));
  return new Map(
    covered
      .filter(({ blockNumber }) => after.has(blockNumber))
      .map(({ record: { hash } }) => [hash, (byTransaction.get(hash) ?? []).map(({ record }) => record)]),
  );
}

/** Those of the blocks that the chain has, by hash, and of which all logs are here. */
async function coveredOf(
  database: ReadDatabase,
  { id }: Chain,
  blocks: readonly PageBlock[],
): Promise<ReadonlySet<number>> {
  const rows = await database.select<{ number: number }>(
    `SELECT DISTINCT asked.block_number AS number FROM unnest($2::bigint[], $3::bytea[]) AS asked (block_number, block_hash)
     JOIN blocks AS own ON own.chain_id = $1 AND own.block_number = asked.block_number AND own.block_hash = asked.block_hash
     WHERE EXISTS (SELECT FROM sync_ranges AS range WHERE range.chain_id = $1 AND range.dataset = $4 AND range.proof <> 'unproven'
       AND asked.block_number BETWEEN range.first_block AND range.last_block)`,
    [
      id,
      blocks.map(({ block_number }) => block_number),
      blocks.map(({ block_hash }) => hexBytes(block_hash)),
      logs.name,
    ],
  );
  return new Set(rows.map(({ number }) => number));
}
