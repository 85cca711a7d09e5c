/**
 * ERC-20 transfers, one row for each *side*: the sender's and the receiver's, a self-transfer once. A wallet's page is
 * then one range scan of one shard (docs/architecture.md has the measured comparison with one row a transfer).
 */
import { bytea, uint256 } from '@chainstead/db/column-types';
import { bigint, index, integer, pgTable, primaryKey, smallint, timestamp } from 'drizzle-orm/pg-core';

export const erc20Transfers = pgTable(
  'erc20_transfers',
  {
    /** Whose side this row is; the distribution column on Citus. */
    account: bytea('account').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** Unique within its transaction on every chain, within its block on most. */
    logIndex: integer('log_index').notNull(),
    /** 0: account sent, 1: account received, 2: both. */
    direction: smallint('direction').notNull(),
    token: bytea('token').notNull(),
    counterparty: bytea('counterparty').notNull(),
    /** Base units. */
    value: uint256('value').notNull(),
    transactionHash: bytea('transaction_hash').notNull(),
    blockHash: bytea('block_hash').notNull(),
    blockTimestamp: timestamp('block_timestamp', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.account, table.chainId, table.blockNumber, table.transactionIndex, table.logIndex],
    }),
    index('erc20_transfers_by_token').on(
      table.account,
      table.chainId,
      table.token,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
    ),
  ],
);
