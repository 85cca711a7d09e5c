/**
 * ERC-20 transfers, one row for each *side*: the sender's and the receiver's, a self-transfer once. A wallet's page is
 * then one range scan of one shard (docs/storage-layout.md has the measured comparison with one row a transfer).
 *
 * Partitioned by range of (chain_id, block_number), which drizzle has no words for: the migration says it, and the sync engine makes the
 * partitions. Hash and time of a row's block are in `blocks`.
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, bytea, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import { bigint, index, integer, pgTable, primaryKey, smallint } from 'drizzle-orm/pg-core';

/** 0: the account sent, 1: it received, 2: it did both. */
export type Direction = 0 | 1 | 2;

/** The columns of a table of such rows. Those of fixed width come first: nothing is lost to alignment. */
export const sideColumns = () => ({
  /** Of `account` (`addressKey`): what the indexes begin with, and the distribution column on Citus. Accounts may share one. */
  accountKey: int8Text('account_key').notNull(),
  chainId: bigint('chain_id', { mode: 'number' }).notNull(),
  blockNumber: integer('block_number').notNull(),
  transactionIndex: integer('transaction_index').notNull(),
  /** Unique within its transaction on every chain, within its block on most. */
  logIndex: integer('log_index').notNull(),
  /** 0: account sent, 1: account received, 2: both. In the key for two accounts of one `account_key` in one transfer. */
  direction: smallint('direction').$type<Direction>().notNull(),
  /** Whose side this row is. */
  account: address('account').notNull(),
  token: address('token').notNull(),
  counterparty: address('counterparty').notNull(),
  /** Base units. */
  value: uint256('value').notNull(),
  transactionHash: hash('transaction_hash').notNull(),
});

export const erc20Transfers = pgTable('erc20_transfers', sideColumns(), (table) => [
  primaryKey({
    name: 'erc20_transfers_pkey',
    columns: [
      table.accountKey,
      table.chainId,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
      table.direction,
    ],
  }),
  // The chain is the partition's. Four bytes tell a wallet's tokens apart, and who filters by one compares all of it too. The last
  // four: the first are alike for tokens that a chain is born with. Places within a block are sorted by who reads: they would be a
  // third of each entry.
  index('erc20_transfers_by_token').on(table.accountKey, sql`token_key(token)`, table.blockNumber),
  // Each transfer once: the side that did not only receive.
  index('erc20_transfers_by_contract').on(sql`token_key(token)`, table.blockNumber).where(sql`direction <> 1`),
  blockRangeIndex('erc20_transfers', table, 'int4'),
]);

/** How often tokens moved that somebody asked about (`erc20-token-counts` in `kept_subjects`) and that have very many transfers. */
export const erc20TokenCounts = pgTable(
  'erc20_token_counts',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    transfers: bigint('transfers', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId] })],
);

/** One side of one transfer. Hexadecimal text is lower case. */
export type Erc20TransferRow = Readonly<typeof erc20Transfers.$inferSelect>;
