/**
 * ERC-20 transfers, one row for each *side*: the sender's and the receiver's, a self-transfer once. A wallet's page is
 * then one range scan of one shard (docs/architecture.md has the measured comparison with one row a transfer).
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, blockTime, hash, uint256 } from '@chainstead/db/column-types';
import { bigint, index, integer, pgTable, primaryKey, smallint } from 'drizzle-orm/pg-core';

/** 0: the account sent, 1: it received, 2: it did both. */
export type Direction = 0 | 1 | 2;

export const erc20Transfers = pgTable(
  'erc20_transfers',
  {
    /** Whose side this row is; the distribution column on Citus. */
    account: address('account').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** Unique within its transaction on every chain, within its block on most. */
    logIndex: integer('log_index').notNull(),
    /** 0: account sent, 1: account received, 2: both. */
    direction: smallint('direction').$type<Direction>().notNull(),
    token: address('token').notNull(),
    counterparty: address('counterparty').notNull(),
    /** Base units. */
    value: uint256('value').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
    blockHash: hash('block_hash').notNull(),
    blockTimestamp: blockTime('block_timestamp').notNull(),
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
    blockRangeIndex('erc20_transfers', table),
  ],
);

/** One side of one transfer. Hexadecimal text is lower case. */
export type Erc20TransferRow = Readonly<typeof erc20Transfers.$inferSelect>;
