import { isObject } from '@chainstead/core';
import {
  account,
  block,
  coins,
  decoded,
  flags,
  hexText,
  listAt,
  outcome,
  text,
  time,
  transaction,
} from '../tables/cells.ts';
import type { FullRecord, RecordPart } from './full-view.ts';

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
    isObject(known) ? 'The call has no parameters.' : 'No call, or its function is unknown.',
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

const transactions: RecordPart = {
  name: 'transactions',
  title: 'Transactions',
  columns: [
    { title: 'Index', cell: text('transaction_index'), isNumber: true },
    { title: 'Transaction', cell: transaction('hash') },
    { title: 'From', cell: account('from_address', 'from_address_label') },
    { title: 'To', cell: account('to_address', 'to_address_label') },
    { title: 'Method', cell: text('method_label', 60) },
    { title: 'Value', cell: coins('value'), isNumber: true },
    { title: 'Fee', cell: text('transaction_fee'), isNumber: true },
    { title: 'Outcome', cell: outcome() },
  ],
  rowsOf: (body) => listAt(body, 'transactions'),
  none: () => 'No transactions.',
};

export const BLOCK: FullRecord = {
  name: 'block',
  target: (number) => ({ path: `/api/v2.2/block/${number}`, query: {} }),
  facts: [
    { title: 'Time', cell: time('timestamp') },
    { title: 'Hash', cell: text('hash') },
    { title: 'Parent hash', cell: text('parent_hash') },
    { title: 'Produced by', cell: account('miner') },
    { title: 'Gas used', cell: text('gas_used') },
    { title: 'Gas limit', cell: text('gas_limit') },
    { title: 'Base fee, wei', cell: text('base_fee_per_gas') },
    { title: 'Size, bytes', cell: text('size') },
    { title: 'Proof', cell: text('proof') },
    { title: 'Notes', cell: flags({ finalized: 'final' }) },
  ],
  parts: [transactions],
};
