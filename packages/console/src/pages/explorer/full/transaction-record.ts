import { account, block, coins, decoded, hexText, isRecord, listAt, outcome, text, time } from '../tables/cells.ts';
import type { FullRecord, RecordPart } from './full-record.ts';

const INPUT_SHOWN = 400;
const VALUE_SHOWN = 300;

const call: RecordPart = {
  name: 'call',
  title: 'Call',
  columns: [
    { title: 'Parameter', cell: text('name') },
    { title: 'Type', cell: text('type') },
    { title: 'Value', cell: text('value', VALUE_SHOWN), isLong: true },
  ],
  rowsOf: (body) => listAt(body, 'decoded_call.params'),
  none: ({ decoded_call: known }) =>
    isRecord(known) ? 'The call has no parameters.' : 'No call, or its function is unknown.',
};

const logs: RecordPart = {
  name: 'logs',
  title: 'Logs',
  columns: [
    { title: 'Log', cell: text('log_index'), isNumber: true },
    { title: 'Contract', cell: account('address') },
    { title: 'Event', cell: decoded('decoded_event'), isLong: true },
    { title: 'Topics', cell: hexText('topic0', 'topic1', 'topic2', 'topic3') },
  ],
  rowsOf: (body) => listAt(body, 'logs'),
  none: () => 'No logs.',
};

const internal: RecordPart = {
  name: 'internal',
  title: 'Internal transactions',
  columns: [
    { title: 'Type', cell: text('type') },
    { title: 'From', cell: account('from') },
    { title: 'To', cell: account('to') },
    { title: 'Value', cell: coins('value'), isNumber: true },
    { title: 'Gas used', cell: text('gas_used'), isNumber: true },
    { title: 'Input', cell: hexText('input') },
    { title: 'Error', cell: text('error') },
  ],
  rowsOf: (body) => listAt(body, 'internal_transactions'),
  none: ({ internal_transactions: reported }) =>
    reported === null ? 'No node of the chain has traces.' : 'No internal transactions.',
};

/** A transaction by its hash, with its decoded call and logs, and its internal calls. */
export const TRANSACTION: FullRecord = {
  name: 'transaction',
  target: (hash) => ({
    path: `/api/v2.2/transaction/${hash}/verbose`,
    query: { include: 'internal_transactions' },
  }),
  facts: [
    { title: 'Time', cell: time() },
    { title: 'Outcome', cell: outcome() },
    { title: 'From', cell: account('from_address', 'from_address_label') },
    { title: 'To', cell: account('to_address', 'to_address_label') },
    { title: 'Created contract', cell: account('receipt_contract_address') },
    { title: 'Value', cell: coins('value') },
    { title: 'Method', cell: text('decoded_call.signature') },
    { title: 'Fee', cell: text('transaction_fee') },
    { title: 'Gas used', cell: text('receipt_gas_used') },
    { title: 'Gas limit', cell: text('gas') },
    { title: 'Nonce', cell: text('nonce') },
    { title: 'Index', cell: text('transaction_index') },
    { title: 'Block', cell: block() },
    { title: 'Proof', cell: text('proof') },
    { title: 'Confirmations', cell: text('confirmations') },
    { title: 'Input', cell: text('input', INPUT_SHOWN) },
  ],
  parts: [call, logs, internal],
};
