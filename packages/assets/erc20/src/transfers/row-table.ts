import { defineTable } from '@chainstead/sync/datasets';
import { erc20Transfers as table } from './schema.ts';

export const erc20TransfersTable = defineTable(table, {
  bulkIndexes: ['erc20_transfer_sides_by_token', 'erc20_transfer_sides_by_contract'],
});
