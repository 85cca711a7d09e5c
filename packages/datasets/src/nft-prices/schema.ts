/**
 * Sales by token and day, so that the prices of a token with any number of sales are read from a few rows. They follow from
 * `nft_trades`: trades of a single token at a unit price above zero. What counts as ether is decided when they are read, so that
 * they depend on no chain's facts.
 */
import { bytea, uint256 } from '@chainstead/db/column-types';
import { bigint, date, integer, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';

export const nftSaleDays = pgTable(
  'nft_sale_days',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** −1: the whole collection. */
    tokenId: numeric('token_id').notNull(),
    /** The zero address: the chain's coin. */
    paymentToken: bytea('payment_token').notNull(),
    /** UTC. */
    day: date('day').notNull(),
    sales: bigint('sales', { mode: 'number' }).notNull(),
    /** Sum of the unit prices. Base units. */
    total: numeric('total').notNull(),
    /** The sale of the lowest and of the highest unit price; the earliest where several share it. */
    lowest: uint256('lowest').notNull(),
    lowestBlock: bigint('lowest_block', { mode: 'number' }).notNull(),
    lowestTransaction: integer('lowest_transaction').notNull(),
    lowestLog: integer('lowest_log').notNull(),
    lowestItem: integer('lowest_item').notNull(),
    highest: uint256('highest').notNull(),
    highestBlock: bigint('highest_block', { mode: 'number' }).notNull(),
    highestTransaction: integer('highest_transaction').notNull(),
    highestLog: integer('highest_log').notNull(),
    highestItem: integer('highest_item').notNull(),
    latestBlock: bigint('latest_block', { mode: 'number' }).notNull(),
    latestTransaction: integer('latest_transaction').notNull(),
    latestLog: integer('latest_log').notNull(),
    latestItem: integer('latest_item').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId, table.tokenId, table.paymentToken, table.day] }),
  ],
);
