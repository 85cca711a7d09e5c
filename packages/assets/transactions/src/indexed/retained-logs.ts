import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { hexBytes, type ReadDatabase, sql } from '@chainstead/db';
import type { TransactionPosition } from '@chainstead/pages';
import { logs } from '../contract-logs/dataset.ts';
import type { TransactionRecord } from '../records/transaction-record.ts';
import { readStoredLogsOf } from './stored-logs.ts';

interface ShownTransaction extends TransactionPosition {
  readonly hash: Hash;
  readonly blockHash: Hash;
}

/** By transaction. Without incomplete blocks, and blocks that were replaced meanwhile. */
export async function readRetainedLogs(
  database: ReadDatabase,
  chain: Chain,
  transactions: readonly ShownTransaction[],
): Promise<ReadonlyMap<Hash, TransactionRecord['logs']>> {
  if (chain.logs !== 'all' || transactions.length === 0) return new Map();
  const before = await coveredOf(database, chain, transactions);
  const covered = transactions.filter(({ block }) => before.has(block));
  if (covered.length === 0) return new Map();
  const stored = await readStoredLogsOf(database, chain, covered);
  const byTransaction = Map.groupBy(stored, ({ transactionHash }) => transactionHash);
  // Separate reads are consistent if the block is still the same, and complete.
  const after = await coveredOf(database, chain, covered);
  return new Map(
    covered
      .filter(({ block }) => after.has(block))
      .map(({ hash }) => [hash, (byTransaction.get(hash) ?? []).map(({ record }) => record)]),
  );
}

async function coveredOf(database: ReadDatabase, { id }: Chain, transactions: readonly ShownTransaction[]) {
  const rows = await database.select<{ number: number }>(
    sql`SELECT DISTINCT requested.block_number AS number FROM unnest(${transactions.map(({ block }) => block)}::bigint[], ${transactions.map(({ blockHash }) => hexBytes(blockHash))}::bytea[]) AS requested (block_number, block_hash)
     JOIN blocks AS own ON own.chain_id = ${id} AND own.block_number = requested.block_number AND own.block_hash = requested.block_hash
     WHERE EXISTS (SELECT FROM sync_ranges AS range WHERE range.chain_id = ${id} AND range.dataset = ${logs.name} AND range.proof <> 'unproven'
       AND requested.block_number BETWEEN range.first_block AND range.last_block)`,
  );
  return new Set(rows.map(({ number }) => number));
}
