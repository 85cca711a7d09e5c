import { defineTable } from '@chainstead/sync';
import { FORMER_TABLE, erc20Transfers as table } from './schema.ts';

export const erc20TransfersTable = defineTable(table, {
  bulkIndexes: ['erc20_transfers_by_token', 'erc20_transfers_by_contract'],
  isPartitioned: true,
  former: {
    table: FORMER_TABLE,
    all: 'erc20_transfers_all',
    key: ['account', 'chain_id', 'block_number', 'transaction_index', 'log_index'],
    columns: { account_key: 'address_key(account)' },
  },
});
