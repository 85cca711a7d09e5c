import { boolean, digits, hex, packedRows, preciseMoment, text, textOrNull } from '@chainstead/db/packed-rows';
import { z } from '@hono/zod-openapi';

/** docs/api/aptos.md#transfers */
export const transferRecordSchema = z
  .object({
    activity_type: z.string().openapi({ example: '0x1::coin::WithdrawEvent' }),
    amount: z.string(),
    block_height: z.string(),
    coin_type: z.string(),
    entry_function_id_str: z.string().nullable(),
    event_account_address: z.string(),
    event_creation_number: z.string().openapi({ description: '-1 for the gas fee of a transaction' }),
    event_sequence_number: z.string(),
    is_gas_fee: z.boolean(),
    is_transaction_success: z.boolean(),
    owner_address: z.string(),
    transaction_timestamp: z.string(),
    transaction_version: z.string(),
  })
  .openapi('AptosCoinTransfer');

export const TRANSFER_ROWS = packedRows({
  activity_type: text('activity_type'),
  amount: digits('amount'),
  block_height: digits('block_height'),
  coin_type: text('coin_type'),
  entry_function_id_str: textOrNull('entry_function_id'),
  event_account_address: hex('event_account_address', 32),
  event_creation_number: digits('event_creation_number'),
  event_sequence_number: digits('event_sequence_number'),
  is_gas_fee: boolean('is_gas_fee'),
  is_transaction_success: boolean('is_transaction_success'),
  owner_address: hex('owner_address', 32),
  transaction_timestamp: preciseMoment('transaction_timestamp'),
  transaction_version: digits('transaction_version'),
  event_index: digits('event_index'),
});
