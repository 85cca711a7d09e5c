/**
 * What was wrapped of a chain's native coin, and unwrapped, without a Transfer: a deposit is a row of what the account received from the zero
 * address and one of what that sent, a withdrawal the other way round; as mints and burns are in `erc20_transfers`, whose columns these are.
 *
 * Partitioned by range of (chain_id, block_number), which drizzle has no words for: the migration says it, and the sync engine makes the
 * partitions. Hash and time of a row's block are in `blocks`.
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { sql } from 'drizzle-orm';
import { index, pgTable, primaryKey } from 'drizzle-orm/pg-core';
import { sideColumns } from '../transfers/schema.ts';

export const wrappedCoinMoves = pgTable('wrapped_coin_moves', sideColumns(), (table) => [
  primaryKey({
    name: 'wrapped_coin_moves_pkey',
    columns: [
      table.accountKey,
      table.chainId,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
      table.direction,
    ],
  }),
  // Each once, by its contract: a chain has one wrapped coin.
  index('wrapped_coin_moves_by_contract').on(sql`token_key(token)`, table.blockNumber).where(sql`direction <> 1`),
  blockRangeIndex('wrapped_coin_moves', table, 'int4'),
]);
