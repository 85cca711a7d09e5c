import { decimalAmount } from '@chainstead/core';
import { decodeEvent } from '@chainstead/events/decoding';
import { each, inside, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { BooksOf } from '../abis/abi-books.ts';
import type { BlockRecord } from './block-record.ts';
import { decodedCall, decodedCallView, decodedEventView } from './decoded-response.ts';
import {
  bytes,
  internalTransactionView,
  showInternalTransactions,
  type Traced,
  tracedMark,
  tracesMark,
} from './internal-transaction-response.ts';
import { type LabelOf, type ProofMark, proofMarkSchema, type TransactionRecord } from './transaction-record.ts';

const COIN_DECIMALS = 18;
const { address, digits, flag, hash, text } = wire;

export interface TransactionInBlock {
  readonly transaction: TransactionRecord;
  readonly block: Pick<BlockRecord, 'number' | 'hash' | 'timestamp'>;
  readonly internal?: Traced;
}

/** What the transactions of a response have in common. */
export interface RelatedToTransactions {
  readonly labelOf: LabelOf;
  readonly booksOf: BooksOf;
}

type Shown = ReturnType<typeof shownTransaction>;

/** @param method name of the called function */
export function shownTransaction(
  { transaction, block, internal }: TransactionInBlock,
  { labelOf, booksOf }: RelatedToTransactions,
  method: string | null,
) {
  const [sender, recipient] = [labelOf(transaction.from), labelOf(transaction.to)];
  return { ...transaction, ...{ block, internal, booksOf, sender, recipient, method } };
}

function decodedTransaction(found: TransactionInBlock, related: RelatedToTransactions) {
  const call = decodedCall(found.transaction, found.block.number, related.booksOf);
  return { ...shownTransaction(found, related, call?.label ?? null), decoded_call: call };
}

const coins = wire.wire(
  z.string().openapi({ pattern: '^[0-9]+(\\.[0-9]+)?$', example: '0.00034' }),
  (wei: string) => decimalAmount(wei, COIN_DECIMALS),
);

/** Unix seconds. */
export const second = wire.wire(z.string().openapi({ example: '2022-11-19T20:01:23.000Z' }), isoOf);

const placeFields = {
  block_timestamp: second(({ block }: Pick<Shown, 'block'>) => block.timestamp),
  block_number: digits({ example: '15000000' }, ({ block }: Pick<Shown, 'block'>) => String(block.number)),
  block_hash: hash(({ block }: Pick<Shown, 'block'>) => block.hash),
};

/** docs/api/transactions.md#transactions */
export const transactionFields = {
  hash: hash(),
  nonce: digits({ example: '326595425' }),
  transaction_index: digits({ example: '12' }, ({ index }) => String(index)),
  from_address: address.of('from'),
  from_address_entity: text.orNull(({ sender }) => sender.entity),
  from_address_entity_logo: text.orNull(({ sender }) => sender.entityLogo),
  from_address_label: text.orNull(({ sender }) => sender.label),
  to_address: address.orNull('null for a contract creation', 'to'),
  to_address_entity: text.orNull(({ recipient }) => recipient.entity),
  to_address_entity_logo: text.orNull(({ recipient }) => recipient.entityLogo),
  to_address_label: text.orNull(({ recipient }) => recipient.label),
  value: digits({ example: '650000000000000000', description: 'Wei' }),
  gas: digits({ example: '6721975', description: 'Gas limit' }),
  gas_price: digits({ example: '20000000000', description: 'Price paid per unit of gas in wei' }, 'gasPrice'),
  input: bytes(),
  receipt_cumulative_gas_used: digits({ example: '1340925' }, 'cumulativeGasUsed'),
  receipt_gas_used: digits({ example: '1340925' }, 'gasUsed'),
  receipt_contract_address: address.orNull('The created contract', 'contractAddress'),
  receipt_root: hash.orNull('Only before the Byzantium fork', 'root'),
  receipt_status: wire
    .wire(z.enum(['0', '1']))
    .orNull('null before the Byzantium fork', ({ status }) =>
      status === null ? null : status === 1 ? '1' : '0',
    ),
  transaction_fee: coins('Fee in native tokens, without the blob fee', 'fee'),
  blob_fee: coins.orNull('Blob fee in native tokens', 'blobFee'),
  ...placeFields,
  method_label: text.orNull({ example: 'transfer', description: 'null if the call is unknown' }, 'method'),
  internal_transactions: wire.wire(z.array(internalTransactionView.schema).nullable().optional())(
    'Only with include. null if no node of the chain returns traces',
    (shown) => showInternalTransactions(shown, shown.internal),
  ),
} satisfies Record<string, wire.Field<Shown> | wire.SameField<never>>;

export type ShownLog = ReturnType<typeof logsOf>[number];

export function logsOf(shown: Shown) {
  const { block, booksOf } = shown;
  return shown.logs.map((log) => ({ ...log, transaction: shown, block, booksOf }));
}

const topicOf = (position: number) => hash.orNull(({ topics }: ShownLog) => topics[position] ?? null);

export const logFields = {
  log_index: digits({ example: '273' }, ({ index }) => String(index)),
  transaction_hash: hash(({ transaction }) => transaction.hash),
  transaction_index: digits({ example: '12' }, ({ transaction: { index } }) => String(index)),
  address: address(),
  data: bytes(),
  topic0: topicOf(0),
  topic1: topicOf(1),
  topic2: topicOf(2),
  topic3: topicOf(3),
  ...placeFields,
} satisfies Record<string, wire.Field<ShownLog> | wire.SameField<never>>;

const logView = view('TransactionLog', (log: ShownLog) => log, logFields);

export function eventOf({ topics, data, address: emitter, block, booksOf }: ShownLog) {
  return decodeEvent({ topics, data }, booksOf(emitter, block.number));
}

const verboseLogView = view('TransactionLogVerbose', (log: ShownLog) => log, {
  ...logFields,
  decoded_event: inside(decodedEventView).orNull('null if the event is unknown', eventOf),
});

const logs = { logs: each(logView)(logsOf) };

const decoded = {
  logs: each(verboseLogView)(logsOf),
  decoded_call: inside(decodedCallView).orNull('null if the call is unknown'),
};

export const blockTransactionView = view('BlockTransaction', decodedTransaction, {
  ...transactionFields,
  ...logs,
});
export const walletTransactionView = view('WalletTransaction', decodedTransaction, transactionFields);
export const verboseWalletTransactionView = view('WalletTransactionVerbose', decodedTransaction, {
  ...transactionFields,
  ...decoded,
});

interface Marks {
  readonly source: 'indexed' | 'node';
  readonly proof: ProofMark;
  /** Blocks between its block and the newest indexed one. */
  readonly confirmations: number;
  readonly finalized: boolean;
}

/** @param traced undefined: not requested; null: no node provides traces */
export function shownMarks({ source, proof, confirmations, finalized }: Marks, traced: unknown) {
  return { source, proof, confirmations, finalized, indexed: tracedMark(traced) };
}

export const markFields = {
  source: wire.wire(z.enum(['indexed', 'node']))('Source of the data'),
  proof: wire.wire(proofMarkSchema)('Proof by the block header'),
  confirmations: wire.wire(z.number())('Number of blocks between its block and the newest indexed block'),
  finalized: flag(),
  indexed: wire.wire(z.object({ traces: tracesMark })).orAbsent('Only with include'),
};

export type MarkedTransaction = TransactionInBlock & Marks;

function markedTransaction(found: MarkedTransaction, related: RelatedToTransactions) {
  return { ...decodedTransaction(found, related), ...shownMarks(found, found.internal) };
}

export const transactionView = view('Transaction', markedTransaction, {
  ...transactionFields,
  ...logs,
  ...markFields,
});

export const verboseTransactionView = view('TransactionVerbose', markedTransaction, {
  ...transactionFields,
  ...markFields,
  ...decoded,
});

/** `2022-11-19T20:01:23.000Z`. */
export function isoOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
