/** Wrapping without a Transfer, in the form of mints and burns of `erc20_transfer_sides`. */

import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { IS_GIVING_SIDE } from '@chainstead/db/direction';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { sql } from 'drizzle-orm';
import { index, pgTable, primaryKey } from 'drizzle-orm/pg-core';
import { sideColumns } from '../transfers/schema.ts';

export const wrappedCoinMoves = pgTable('wrapped_coin_moves', sideColumns(), (table) => [
  primaryKey({
    columns: [
      table.accountKey,
      table.chainId,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
      table.direction,
    ],
  }),
  // Each once, by contract: a chain has one wrapped native token.
  index('wrapped_coin_moves_by_contract').on(sql`token_key(token)`, table.blockNumber).where(sql.raw(IS_GIVING_SIDE)),
  blockRangeIndex('wrapped_coin_moves', table, 'int4'),
]);

declareStorage(wrappedCoinMoves, {
  writes: 'append',
  placement: distributedBy('account', 'account_key'),
  isPartitioned: true,
});
