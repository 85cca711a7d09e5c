/** Token contracts: what the chain says of them, what imported lists say, and labels of addresses. */
import { bytea, uint256 } from '@chainstead/db/column-types';
import { dueColumns, dueIndex } from '@chainstead/jobs/due-columns';
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, pgTable, primaryKey, smallint, text, timestamp } from 'drizzle-orm/pg-core';

const facts = dueColumns('facts_');
const due = dueColumns('');

/** One row for each contract seen in a transfer or named by a list. Metadata is null until known. */
export const tokens = pgTable(
  'tokens',
  {
    address: bytea('address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** What it turned out to be: erc20, erc721, erc1155; null while unknown. NFTs never appear among ERC-20 transfers. */
    standard: text('standard'),
    /** As what its events show it, by bit: 1 ERC-20, 2 ERC-721, 4 ERC-1155. Hybrids are several. */
    seenAs: smallint('seen_as').notNull().default(0),
    name: text('name'),
    symbol: text('symbol'),
    decimals: smallint('decimals'),
    /** pending, known, failed. */
    factsStatus: text('facts_status').notNull().default('pending'),
    ...facts,
    /** A token that was just seen is due immediately. A known one is due when its facts may have changed. */
    dueAt: facts.dueAt.defaultNow(),
    /** Time of the last read of its metadata; null: never, or a worker of collections read it. */
    factsReadAt: timestamp('facts_read_at', { withTimezone: true }),
    /** Newest block in which it, or its beacon, announced other code or its initialization; null: none seen. Older facts are outdated. */
    factsFromBlock: bigint('facts_from_block', { mode: 'number' }),
    /** From imported lists. */
    logo: text('logo'),
    verified: boolean('verified').notNull().default(false),
    /** By an imported list or by the rule in docs/api/spam.md. */
    possibleSpam: boolean('possible_spam').notNull().default(false),
    /** Base units, as `totalSupply` said at the block; null: not read, or the contract has none. */
    totalSupply: uint256('total_supply'),
    supplyBlock: bigint('supply_block', { mode: 'number' }),
    /** Hash of that block: once another one replaces it, the supply is invalid. */
    supplyBlockHash: bytea('supply_block_hash'),
    supplyReadAt: timestamp('supply_read_at', { withTimezone: true }),
    /** The block in which its code first is; null: not looked up, or unknown to all nodes. */
    createdBlock: bigint('created_block', { mode: 'number' }),
    createdAt: timestamp('created_at', { withTimezone: true }),
    /** When the creation was looked for, whatever came of it. */
    creationSoughtAt: timestamp('creation_sought_at', { withTimezone: true }),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.chainId] }),
    dueIndex('tokens_due', table),
    index('tokens_by_facts_from_block')
      .on(table.chainId, table.factsFromBlock)
      .where(sql`facts_from_block IS NOT NULL`),
    // The chain last: led by it, the index would be taken for look-ups by chain and address where statistics are old.
    index('tokens_by_symbol').on(sql`lower(symbol) text_pattern_ops`, table.chainId),
    // A contract may return a name of any length, and an entry of an index has a maximum.
    index('tokens_by_name').on(sql`left(lower(name), 256) text_pattern_ops`, table.chainId),
    // Token search: parts of names and symbols. Those of imported lists have their own, which is small.
    index('tokens_by_text').using('gin', sql`lower(name) gin_trgm_ops`, sql`lower(symbol) gin_trgm_ops`),
    index('tokens_verified_by_text')
      .using('gin', sql`lower(name) gin_trgm_ops`, sql`lower(symbol) gin_trgm_ops`)
      .where(sql`verified`),
  ],
);

/** Tokens whose decimals changed: figures that were stored with the earlier ones are to be computed again. */
export const changedDecimals = pgTable(
  'changed_decimals',
  {
    address: bytea('address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    ...due,
    dueAt: due.dueAt.defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.address, table.chainId] }), dueIndex('changed_decimals_due', table)],
);

/** Entries of imported token lists, kept with their source so that a re-import replaces exactly its own. */
export const tokenListEntries = pgTable(
  'token_list_entries',
  {
    address: bytea('address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    source: text('source').notNull(),
    name: text('name'),
    symbol: text('symbol'),
    decimals: smallint('decimals'),
    logo: text('logo'),
  },
  (table) => [primaryKey({ columns: [table.address, table.chainId, table.source] })],
);

/** Addresses that an imported list calls scams. `chain_id` 0: on every chain. */
export const spamListEntries = pgTable(
  'spam_list_entries',
  {
    address: bytea('address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    source: text('source').notNull(),
    reason: text('reason'),
  },
  (table) => [primaryKey({ columns: [table.address, table.chainId, table.source] })],
);

/** How often each kind of list was imported. What a process keeps of labels in memory counts at one revision. */
export const listRevisions = pgTable('list_revisions', {
  /** The table that the list is kept in. */
  list: text('list').primaryKey(),
  revision: bigint('revision', { mode: 'number' }).notNull(),
});

/** Labels of addresses, by source. `chain_id` 0: on every chain. */
export const addressLabels = pgTable(
  'address_labels',
  {
    address: bytea('address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    source: text('source').notNull(),
    label: text('label'),
    entity: text('entity'),
    entityLogo: text('entity_logo'),
  },
  (table) => [primaryKey({ columns: [table.address, table.chainId, table.source] })],
);
