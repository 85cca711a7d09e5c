/**
 * Sales by token and day, so that the prices of a token with any number of sales are read from a few rows. They follow from
 * `nft_trades`: single-token trades paid in ether or wrapped ether, at a price above zero.
 */
import { bytea, uint256 } from '@chainstead/db/column-types';
import { bigint, date, integer, numeric, pgTable, primaryKey, smallint } from 'drizzle-orm/pg-core';

export const nftSaleDays = pgTable(
  'nft_sale_days',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** −1: the whole collection. */
    tokenId: numeric('token_id').notNull(),
    /** 0: ether (the coin, or the canonical bridged token where the coin is another), 1: wrapped ether beside the coin. */
    payment: smallint('payment').notNull(),
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
  },
  (table) => [primaryKey({ columns: [table.tokenAddress, table.chainId, table.tokenId, table.payment, table.day] })],
);
