import type { Address, Hash, Hex } from '@chainstead/core';
import { int4, type RowOf } from '@chainstead/db/packed-rows';
import { rowsOf } from '@chainstead/db/rows-of';
import { feesPaid, type TransactionRecord } from '../records/transaction-record.ts';
import { transactions } from './schema.ts';
import { readUint64 } from './transaction-row.ts';

export interface StoredTransaction {
  readonly blockNumber: number;
  readonly record: Omit<TransactionRecord, 'logs' | 'input'> & {
    readonly hash: Hash;
    readonly from: Address;
    readonly to: Address | null;
  };
  /** Null: only {@link StoredTransaction.selector} is stored. */
  readonly input: Hex | null;
  /** First four bytes; null: fewer, or a creation. */
  readonly selector: Hex | null;
  readonly isSenderRecovered: boolean;
}

export const STORED_COLUMNS = rowsOf(transactions, ['transaction_key', 'chain_id', 'status'], {
  status: int4('coalesce(status, -1)'),
});

export type StoredColumns = RowOf<typeof STORED_COLUMNS>;

export function readStored(row: StoredColumns): StoredTransaction {
  const gasUsed = readUint64(row.gas_used);
  return {
    blockNumber: row.block_number,
    record: {
      ...{ hash: row.transaction_hash, index: row.transaction_index, type: row.type },
      nonce: readUint64(row.nonce).toString(),
      from: row.from_address,
      to: row.to_address,
      value: row.value,
      gas: readUint64(row.gas).toString(),
      gasPrice: row.gas_price,
      gasUsed: gasUsed.toString(),
      cumulativeGasUsed: readUint64(row.cumulative_gas_used).toString(),
      contractAddress: row.contract_address,
      root: row.root,
      status: row.status < 0 ? null : row.status,
      ...feesPaid(gasUsed, {
        gasPrice: BigInt(row.gas_price),
        l1Fee: amountOrNull(row.l1_fee),
        blobGasUsed: amountOrNull(row.blob_gas_used),
        blobGasPrice: amountOrNull(row.blob_gas_price),
      }),
    },
    input: row.input,
    selector: row.selector,
    isSenderRecovered: row.sender_recovered,
  };
}

function amountOrNull(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}
