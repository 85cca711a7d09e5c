/** Classes of tokens by how their balances change (docs/concepts/balances.md). */
import { bytea } from '@chainstead/db/column-types';
import { bigint, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/** Whether transfers determine a token's balances. Unknown for a token without a row. */
export const erc20TokenClasses = pgTable(
  'erc20_token_classes',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /**
     * `sum`: transfers were confirmed by contract reads; `live`: balances change without transfers, or differently;
     * `none`: `balanceOf` does not work.
     */
    class: text('class').$type<'sum' | 'live' | 'none'>().notNull(),
    /** Block of the read that showed it. */
    sinceBlock: bigint('since_block', { mode: 'number' }).notNull(),
    reportedAt: timestamp('told_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId] })],
);
