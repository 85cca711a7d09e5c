/**
 * What wallets hold of tokens: of those that somebody asked about, what their transfers add up to, and what the contracts themselves said at
 * a block (docs/balances.md).
 */
import { bytea } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import { bigint, index, integer, numeric, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/**
 * Of wallets that somebody asked about (`erc20-wallet-tokens` in `kept_subjects`), each token that they ever moved, or that was asked for.
 * Base units; unbounded numeric, since a lying contract may overflow 256 bits.
 */
export const erc20WalletTokens = pgTable(
  'erc20_wallet_tokens',
  {
    wallet: bytea('wallet').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    token: bytea('token').notNull(),
    /** Received less sent, of every indexed transfer. Below zero while history is incomplete. */
    total: numeric('total').notNull().default('0'),
    /** Place of the newest transfer; -1 where none is known. */
    movedBlock: integer('moved_block').notNull().default(-1),
    movedTransaction: integer('moved_transaction').notNull().default(-1),
    movedLog: integer('moved_log').notNull().default(-1),
    /** The block at which `balanceOf` was read; null: not yet, or that block was reorganised away. */
    anchorBlock: integer('anchor_block'),
    /** What `balanceOf` said there. */
    anchorValue: numeric('anchor_value', { precision: 78, scale: 0 }),
    /** Received less sent in the blocks above the anchor. */
    since: numeric('since').notNull().default('0'),
    /** When it was read; null: upstreams contradicted it since, and it is not shown. */
    anchoredAt: timestamp('anchored_at', { withTimezone: true }),
  },
  (table) => [
    primaryKey({ columns: [table.wallet, table.chainId, table.token] }),
    // Newest movement first, as answers are.
    index('erc20_wallet_tokens_by_movement').on(
      table.wallet,
      table.chainId,
      table.movedBlock,
      table.movedTransaction,
      table.movedLog,
      table.token,
    ),
    // Anchors go with their block.
    index('erc20_wallet_tokens_by_anchor').on(table.chainId, table.anchorBlock).where(sql`anchor_block IS NOT NULL`),
  ],
);

/** Whether transfers of tokens tell their balances. Of a token without a row nobody knows. */
export const erc20TokenClasses = pgTable(
  'erc20_token_classes',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /**
     * `sum`: what moved was seen to be what the contract said before and after; `live`: balances change without transfers, or not by them;
     * `none`: `balanceOf` does not work.
     */
    class: text('class').$type<'sum' | 'live' | 'none'>().notNull(),
    /** Of the reading that showed it. */
    sinceBlock: bigint('since_block', { mode: 'number' }).notNull(),
    toldAt: timestamp('told_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId] })],
);
