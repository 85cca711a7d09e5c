import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';
import { coverBlocks, createPartitions, hashOf, timestampOf } from '@chainstead/testkit';
import { accountRows, accountTransactions, transactions } from '../stored/datasets.ts';
import type { TransactionRow } from '../stored/schema.ts';
import { transactionKey } from '../stored/transaction-key.ts';

export interface SeededTransaction {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly from: Address;
  readonly to: Address | null;
  /** @default one that shares its key with all others */
  readonly hash?: Hash;
  readonly columns?: Partial<TransactionRow>;
}

/**
 * Writes transactions as the sync engine does, with the rows of their blocks, into one partition unless the chain has
 * any.
 */
export async function seedTransactions(
  database: Database,
  chain: Chain,
  seeded: Iterable<SeededTransaction>,
): Promise<void> {
  const all = [...seeded];
  await database.transaction(async (transaction) => {
    for (const { table } of [transactions, accountTransactions])
      await createPartitions(transaction, table.name, chain.id);
    const lines = all.map((one) => transactions.table.copyLine(rowOf(chain, one)));
    await transaction.copy(transactions.table.name, transactions.table.columns, lines);
    const parts = all.flatMap((one) => accountRows(executedOf(chain, one), one.blockNumber, chain));
    const { table } = accountTransactions;
    await transaction.copy(table.name, table.columns, parts.map(table.copyLine));
    const numbers = [...new Set(all.map(({ blockNumber }) => blockNumber))];
    await transaction.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
       SELECT ${chain.id}, number, hash, to_timestamp(seconds) FROM unnest(${numbers}::bigint[], ${numbers.map((number) => Buffer.from(hashOf(1, number).slice(2), 'hex'))}::bytea[], ${numbers.map(timestampOf)}::float8[]) AS block (number, hash, seconds)
       ON CONFLICT DO NOTHING`,
    );
  });
}

/** Stores a range as covered by both datasets. */
export async function seedTransactionCoverage(
  database: Database,
  chain: Chain,
  first: number,
  last: number,
): Promise<void> {
  for (const { name } of [transactions, accountTransactions])
    await coverBlocks(database, chain.id, name, first, last);
}

/** The hash of a position: all of them share their first eight bytes. */
export function seededHash({
  blockNumber,
  transactionIndex,
}: Pick<SeededTransaction, 'blockNumber' | 'transactionIndex'>): Hash {
  return hashOf(2, blockNumber * 1_000 + transactionIndex);
}

function executedOf(chain: Chain, seeded: SeededTransaction): ExecutedTransaction {
  const row = rowOf(chain, seeded);
  return {
    hash: row.transactionHash,
    index: row.transactionIndex,
    from: row.fromAddress,
    to: row.toAddress,
    contractAddress: row.contractAddress,
    succeeded: row.status !== 0,
    logs: [] as ExecutedTransaction['logs'],
    receipt: { raw: {} },
  } as ExecutedTransaction;
}

function rowOf(chain: Chain, seeded: SeededTransaction): TransactionRow {
  const { blockNumber, transactionIndex, from, to, hash = seededHash(seeded), columns } = seeded;
  return {
    transactionKey: transactionKey(hash),
    chainId: chain.id,
    nonce: '7',
    gas: '30000',
    gasUsed: '21000',
    cumulativeGasUsed: '42000',
    blockNumber,
    transactionIndex,
    type: 2,
    status: 1,
    senderRecovered: true,
    transactionHash: hash,
    fromAddress: from,
    toAddress: to,
    contractAddress: null,
    value: '5',
    gasPrice: '1000000000',
    l1Fee: null,
    blobGasUsed: null,
    blobGasPrice: null,
    root: null,
    selector: null,
    input: '0x',
    ...columns,
  };
}
