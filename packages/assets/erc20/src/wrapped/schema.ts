/** Wrapping without a Transfer, in the form of mints and burns of `erc20_transfer_sides`. */

import { IS_GIVING_SIDE } from '@chainstead/db/column-types';
import { distributedBy, LOG_PLACE, storedTable } from '@chainstead/db/table-storage';
import { sql } from 'drizzle-orm';
import { index } from 'drizzle-orm/pg-core';
import { sideColumns } from '../transfers/schema.ts';

export const wrappedCoinMoves = storedTable('wrapped_coin_moves', sideColumns(), {
  writes: 'append',
  placement: distributedBy('account', 'account_key'),
  isPartitioned: true,
  key: ['accountKey', ...LOG_PLACE, 'direction'],
  indexes: (table) => [
    // Each once, by contract: a chain has one wrapped native token.
    index('wrapped_coin_moves_by_contract')
      .on(sql`token_key(token)`, table.blockNumber)
      .where(sql.raw(IS_GIVING_SIDE)),
  ],
});
