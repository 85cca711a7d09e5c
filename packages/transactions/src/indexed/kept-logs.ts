import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { hexBytes, type ReadDatabase } from '@chainstead/db';
import { logs } from '../contract-logs/dataset.ts';
import type { TransactionRecord } from '../records/transaction-record.ts';
import { readStoredLogsOf } from './stored-logs.ts';

/** A transaction whose logs are to be shown, by its place in the chain. */
interface ShownTransaction {
  readonly hash: Hash;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly transactionIndex: number;
}

/**
 * The logs of a page's transactions, of a chain that keeps all logs, by the transaction's hash. Those of blocks that lack them, or were replaced while they
 * were read, are missing: a node has to be asked for them.
 */
export async function readKeptLogs(
  database: ReadDatabase,
  chain: Chain,
  transactions: readonly ShownTransaction[],
): Promise<ReadonlyMap<Hash, TransactionRecord['logs']>> {
  if (chain.logs !== 'all' || transactions.length === 0) return new Map();
  const before = await coveredOf(database, chain, transactions);
  const covered = transactions.filter(({ blockNumber }) => before.has(blockNumber));
  if (covered.length === 0) return new Map();
  const places = covered.map(({ blockNumber, transactionIndex }) => ({
    block: blockNumber,
    transaction: transactionIndex,
  }));
  const byTransaction = Map.groupBy(
    await readStoredLogsOf(database, chain, places),
    ({ transactionHash }) => transactionHash,
  );
  // What was read one after the other is of one moment where the block is still the same, and all of it is still kept.
  const after = await coveredOf(database, chain, covered);
  return new Map(
    covered
      .filter(({ blockNumber }) => after.has(blockNumber))
      .map(({ hash }) => [hash, (byTransaction.get(hash) ?? []).map(({ record }) => record)]),
  );
}

/** Those of the transactions' blocks that the chain has, by hash, and of which all logs are here. */
async function coveredOf(
  database: ReadDatabase,
  { id }: Chain,
  transactions: readonly ShownTransaction[],
): Promise<ReadonlySet<number>> {
  const rows = await database.select<{ number: number }>(
    `SELECT DISTINCT asked.block_number AS number FROM unnest($2::bigint[], $3::bytea[]) AS asked (block_number, block_hash)
     JOIN blocks AS own ON own.chain_id = $1 AND own.block_number = asked.block_number AND own.block_hash = asked.block_hash
     WHERE EXISTS (SELECT FROM sync_ranges AS range WHERE range.chain_id = $1 AND range.dataset = $4 AND range.proof <> 'unproven'
       AND asked.block_number BETWEEN range.first_block AND range.last_block)`,
    [
      id,
      transactions.map(({ blockNumber }) => blockNumber),
      transactions.map(({ blockHash }) => hexBytes(blockHash)),
      logs.name,
    ],
  );
  return new Set(rows.map(({ number }) => number));
}
