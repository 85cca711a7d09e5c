import type { Address, Hash, Hex } from '@chainstead/core';
import {
  boolean,
  digits,
  hex,
  hexOrNull,
  int4,
  longHexOrNull,
  packedRows,
  type RowOf,
  textOrNull,
} from '@chainstead/db/packed-rows';
import { feesPaid, type TransactionRecord } from '../records/transaction-record.ts';
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

export const STORED_COLUMNS = packedRows({
  block_number: int4('block_number'),
  transaction_index: int4('transaction_index'),
  type: int4('type'),
  status: int4('coalesce(status, -1)'),
  sender_recovered: boolean('sender_recovered'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
  from_address: hex<Address>('from_address', 20),
  to_address: hexOrNull<Address>('to_address', 20),
  contract_address: hexOrNull<Address>('contract_address', 20),
  root: hexOrNull<Hash>('root', 32),
  nonce: digits('nonce'),
  gas: digits('gas'),
  gas_used: digits('gas_used'),
  cumulative_gas_used: digits('cumulative_gas_used'),
  value: digits('value'),
  gas_price: digits('gas_price'),
  l1_fee: textOrNull('l1_fee::text'),
  blob_gas_used: textOrNull('blob_gas_used::text'),
  blob_gas_price: textOrNull('blob_gas_price::text'),
  selector: textOrNull(`encode(selector, 'hex')`),
  input: longHexOrNull('input'),
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
    input: row.input === null ? null : `0x${row.input}`,
    selector: row.selector === null ? null : `0x${row.selector}`,
    isSenderRecovered: row.sender_recovered,
  };
}

function amountOrNull(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}
