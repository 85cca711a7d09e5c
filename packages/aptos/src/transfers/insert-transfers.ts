import type { Transaction } from '@chainstead/db';
import { type Insert, insertRows } from '../rows/insert-rows.ts';
import type { TransferRow } from './transfer-row.ts';

/** Writes rows; existing ones stay unchanged. @returns number of rows added */
export function insertTransfers(transaction: Transaction, rows: readonly TransferRow[]): Promise<number> {
  return insertRows(transaction, INSERT, [...rows].sort(byOwner));
}

/** Sorts in the order of the table's key. */
function byOwner(a: TransferRow, b: TransferRow): number {
  if (a.ownerAddress !== b.ownerAddress) return a.ownerAddress < b.ownerAddress ? -1 : 1;
  return a.transactionVersion - b.transactionVersion || a.eventIndex - b.eventIndex;
}

const INSERT: Insert<TransferRow> = {
  table: 'aptos_transfers',
  columns: [
    { name: 'network', type: 'text', value: (row) => row.network },
    { name: 'owner_address', type: 'bytea', value: (row) => row.ownerAddress },
    { name: 'transaction_version', type: 'bigint', value: (row) => row.transactionVersion },
    { name: 'event_index', type: 'integer', value: (row) => row.eventIndex },
    { name: 'event_account_address', type: 'bytea', value: (row) => row.eventAccountAddress },
    { name: 'event_creation_number', type: 'bigint', value: (row) => row.eventCreationNumber },
    { name: 'event_sequence_number', type: 'numeric', value: (row) => row.eventSequenceNumber },
    { name: 'activity_type', type: 'text', value: (row) => row.activityType },
    { name: 'amount', type: 'numeric', value: (row) => row.amount },
    { name: 'block_height', type: 'bigint', value: (row) => row.blockHeight },
    { name: 'coin_type', type: 'text', value: (row) => row.coinType.text },
    { name: 'coin_type_hash', type: 'bytea', value: (row) => row.coinType.hash },
    { name: 'entry_function_id', type: 'text', value: (row) => row.entryFunctionId },
    { name: 'is_gas_fee', type: 'boolean', value: (row) => row.isGasFee },
    { name: 'is_transaction_success', type: 'boolean', value: (row) => row.isTransactionSuccess },
    { name: 'transaction_timestamp', type: 'timestamptz', value: (row) => row.transactionTimestamp },
  ],
  onConflict: null,
};
