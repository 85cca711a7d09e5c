import { z } from '@hono/zod-openapi';
import { timestampText, utcText } from './timestamp-text.ts';

/** A withdrawal, deposit or gas payment as the API shows it (docs/provider-contract.md#coin-transfers). Numbers are texts. */
export const transferRecordSchema = z
  .object({
    activity_type: z.string().openapi({ example: '0x1::coin::WithdrawEvent' }),
    amount: z.string(),
    block_height: z.string(),
    coin_type: z.string(),
    entry_function_id_str: z.string().nullable(),
    event_account_address: z.string(),
    event_creation_number: z.string().openapi({ description: '-1: the gas of a transaction' }),
    event_sequence_number: z.string(),
    is_gas_fee: z.boolean(),
    is_transaction_success: z.boolean(),
    owner_address: z.string(),
    transaction_timestamp: z.string(),
    transaction_version: z.string(),
  })
  .openapi('AptosCoinTransfer');

type TransferRecord = z.infer<typeof transferRecordSchema>;

/** Columns of {@link TransferResult}. */
export const TRANSFER_COLUMNS = `activity_type, amount, block_height, coin_type, entry_function_id,
  '0x' || encode(event_account_address, 'hex') AS event_account_address, event_creation_number::text AS event_creation_number, event_sequence_number,
  is_gas_fee, is_transaction_success, '0x' || encode(owner_address, 'hex') AS owner_address, ${utcText('transaction_timestamp')} AS transaction_timestamp, transaction_version, event_index`;

export interface TransferResult
  extends Omit<
    TransferRecord,
    'block_height' | 'entry_function_id_str' | 'transaction_timestamp' | 'transaction_version'
  > {
  readonly block_height: number;
  readonly entry_function_id: string | null;
  readonly event_index: number;
  readonly transaction_timestamp: string;
  readonly transaction_version: number;
}

export function showTransfer(row: TransferResult): TransferRecord {
  return {
    activity_type: row.activity_type,
    amount: row.amount,
    block_height: String(row.block_height),
    coin_type: row.coin_type,
    entry_function_id_str: row.entry_function_id,
    event_account_address: row.event_account_address,
    event_creation_number: row.event_creation_number,
    event_sequence_number: row.event_sequence_number,
    is_gas_fee: row.is_gas_fee,
    is_transaction_success: row.is_transaction_success,
    owner_address: row.owner_address,
    transaction_timestamp: timestampText(row.transaction_timestamp),
    transaction_version: String(row.transaction_version),
  };
}
