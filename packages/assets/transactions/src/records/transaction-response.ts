import { decimalAmount } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import type { BlockRecord } from './block-record.ts';
import { decodedCallSchema, decodedEventSchema } from './decoded-response.ts';
import type { InternalTransactionRecord } from './internal-transaction-record.ts';
import {
  internalTransactionSchema,
  showInternalTransactions,
  tracedMarkShape,
} from './internal-transaction-response.ts';
import type { LabelOf, TransactionRecord } from './transaction-record.ts';

const COIN_DECIMALS = 18;
const digits = (example: string) => z.string().openapi({ pattern: '^[0-9]+$', example });
const hash = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });
const address = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const hex = z.string().openapi({ pattern: '^0x[0-9a-f]*$' });
const coins = z.string().openapi({ pattern: '^[0-9]+(\\.[0-9]+)?$', example: '0.00034' });
const moment = z.string().openapi({ example: '2022-11-19T20:01:23.000Z' });

const logShape = {
  log_index: digits('273'),
  transaction_hash: hash,
  transaction_index: digits('12'),
  address,
  data: hex,
  topic0: hash.nullable(),
  topic1: hash.nullable(),
  topic2: hash.nullable(),
  topic3: hash.nullable(),
  block_timestamp: moment,
  block_number: digits('15000000'),
  block_hash: hash,
};

const logSchema = z.object(logShape).openapi('TransactionLog');
export const verboseLogSchema = z
  .object({
    ...logShape,
    decoded_event: decodedEventSchema.nullable().openapi({ description: 'null if the event is unknown' }),
  })
  .openapi('TransactionLogVerbose');

/** docs/api/transactions.md#transactions */
export const transactionShape = {
  hash,
  nonce: digits('326595425'),
  transaction_index: digits('12'),
  from_address: address,
  from_address_entity: z.string().nullable(),
  from_address_entity_logo: z.string().nullable(),
  from_address_label: z.string().nullable(),
  to_address: address.nullable().openapi({ description: 'null for a contract creation' }),
  to_address_entity: z.string().nullable(),
  to_address_entity_logo: z.string().nullable(),
  to_address_label: z.string().nullable(),
  value: digits('650000000000000000').openapi({ description: 'Wei' }),
  gas: digits('6721975').openapi({ description: 'Gas limit' }),
  gas_price: digits('20000000000').openapi({ description: 'Price paid per unit of gas in wei' }),
  input: hex,
  receipt_cumulative_gas_used: digits('1340925'),
  receipt_gas_used: digits('1340925'),
  receipt_contract_address: address.nullable().openapi({ description: 'The created contract' }),
  receipt_root: hash.nullable().openapi({ description: 'Only before the Byzantium fork' }),
  receipt_status: z.enum(['0', '1']).nullable().openapi({ description: 'null before the Byzantium fork' }),
  transaction_fee: coins.openapi({ description: 'Fee in native tokens, without the blob fee' }),
  blob_fee: coins.nullable().openapi({ description: 'Blob fee in native tokens' }),
  block_timestamp: moment,
  block_number: digits('15000000'),
  block_hash: hash,
  method_label: z
    .string()
    .nullable()
    .openapi({ example: 'transfer', description: 'null if the call is unknown' }),
  internal_transactions: z
    .array(internalTransactionSchema)
    .nullable()
    .optional()
    .openapi({ description: 'Only with include. null if no node of the chain returns traces' }),
};

const logsShape = { logs: z.array(logSchema) };
export const blockTransactionSchema = z.object({ ...transactionShape, ...logsShape }).openapi('BlockTransaction');

export const markShape = {
  source: z.enum(['indexed', 'node']).openapi({ description: 'Source of the data' }),
  proof: z.enum(['receipts+transactions', 'none']).openapi({ description: 'Proof by the block header' }),
  confirmations: z
    .number()
    .openapi({ description: 'Number of blocks between its block and the newest indexed block' }),
  finalized: z.boolean(),
  ...tracedMarkShape,
};

export const transactionSchema = z
  .object({ ...transactionShape, ...logsShape, ...markShape })
  .openapi('Transaction');
export const verboseTransactionSchema = z
  .object({
    ...transactionShape,
    logs: z.array(verboseLogSchema),
    decoded_call: decodedCallSchema.nullable().openapi({ description: 'null if the call is unknown' }),
    ...markShape,
  })
  .openapi('TransactionVerbose');

/** `internal` null: no node provides traces; absent: not requested. `method`: a name. */
export function showTransaction(
  transaction: TransactionRecord,
  block: Pick<BlockRecord, 'number' | 'hash' | 'timestamp'>,
  labelOf: LabelOf,
  method: string | null,
  internal?: readonly InternalTransactionRecord[] | null,
): z.infer<typeof blockTransactionSchema> {
  const { from, to } = transaction;
  const [sender, recipient] = [labelOf(from), labelOf(to)];
  const { number, hash: blockHash, timestamp } = block;
  const place = { block_timestamp: isoOf(timestamp), block_number: String(number), block_hash: blockHash };
  return {
    hash: transaction.hash,
    nonce: transaction.nonce,
    transaction_index: String(transaction.index),
    from_address: from,
    from_address_entity: sender.entity,
    from_address_entity_logo: sender.entityLogo,
    from_address_label: sender.label,
    to_address: to,
    to_address_entity: recipient.entity,
    to_address_entity_logo: recipient.entityLogo,
    to_address_label: recipient.label,
    value: transaction.value,
    gas: transaction.gas,
    gas_price: transaction.gasPrice,
    input: transaction.input,
    receipt_cumulative_gas_used: transaction.cumulativeGasUsed,
    receipt_gas_used: transaction.gasUsed,
    receipt_contract_address: transaction.contractAddress,
    receipt_root: transaction.root,
    receipt_status: transaction.status === null ? null : transaction.status === 1 ? '1' : '0',
    transaction_fee: decimalAmount(transaction.fee, COIN_DECIMALS),
    blob_fee: transaction.blobFee === null ? null : decimalAmount(transaction.blobFee, COIN_DECIMALS),
    ...place,
    method_label: method,
    ...(internal !== undefined && {
      internal_transactions: showInternalTransactions({ hash: transaction.hash, block }, internal),
    }),
    logs: transaction.logs.map(({ index, address: emitter, topics, data }) => ({
      log_index: String(index),
      transaction_hash: transaction.hash,
      transaction_index: String(transaction.index),
      address: emitter,
      data,
      topic0: topics[0] ?? null,
      topic1: topics[1] ?? null,
      topic2: topics[2] ?? null,
      topic3: topics[3] ?? null,
      ...place,
    })),
  };
}

/** `2022-11-19T20:01:23.000Z`. */
export function isoOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
