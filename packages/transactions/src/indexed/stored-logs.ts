import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { hex, packedRows, readPackedPage } from '@chainstead/db/packed-rows';
import { LOG_COLUMNS } from '../contract-logs/log-columns.ts';
import type { TransactionRecord } from '../records/transaction-record.ts';

/** A log as it is stored. */
export interface StoredLog {
  readonly transactionIndex: number;
  readonly transactionHash: Hash;
  readonly record: TransactionRecord['logs'][number];
}

/** The logs of a block, or of one of its transactions by its index, in order. Found by the ranges of blocks that the pages of the partition have. */
export async function readStoredLogs(
  database: ReadDatabase,
  { id }: Pick<Chain, 'id'>,
  of: { readonly block: number; readonly transaction?: number },
): Promise<readonly StoredLog[]> {
  const { rows } = await readPackedPage(database, LOGS, (select) => ({
    text: `WITH found AS MATERIALIZED (SELECT * FROM logs WHERE chain_id = $1 AND block_number = $2::int AND ($3::int IS NULL OR transaction_index = $3))
      SELECT ${select} FROM found`,
    values: [id, of.block, of.transaction ?? null],
  }));
  return rows
    .toSorted((one, other) => one.log_index - other.log_index)
    .map((row) => ({
      transactionIndex: row.transaction_index,
      transactionHash: row.transaction_hash,
      record: {
        index: row.log_index,
        address: row.address,
        topics: [row.topic0, row.topic1, row.topic2, row.topic3].flatMap((topic) => topic ?? []),
        data: `0x${row.data}`,
      },
    }));
}

const LOGS = packedRows({ ...LOG_COLUMNS, address: hex('address', 20) });
