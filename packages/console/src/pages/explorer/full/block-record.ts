import { account, coins, flags, listAt, outcome, text, time, transaction } from '../tables/cells.ts';
import type { FullRecord, RecordPart } from './full-record.ts';

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

/** A block by its number, with its transactions. */
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
