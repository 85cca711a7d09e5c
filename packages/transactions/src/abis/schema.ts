/** Data that operators imported for decoding calls and events. */
import { bytea } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/** Signatures of imported lists, by source, without a contract. */
export const importedSignatures = pgTable(
  'imported_signatures',
  {
    /** First four bytes of the signature's hash: the selector of a function, the start of an event's topic0. */
    selector: bytea('selector').notNull(),
    /** Name and canonical types: `transfer(address,uint256)`. */
    signature: text('signature').notNull(),
    source: text('source').notNull(),
  },
  (table) => [primaryKey({ columns: [table.selector, table.signature, table.source] })],
);

/** Functions and events of the ABI that was imported for a contract. */
export const contractAbiEntries = pgTable(
  'contract_abi_entries',
  {
    address: bytea('address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** As in {@link importedSignatures}. */
    selector: bytea('selector').notNull(),
    /** Among the ABI's entries. */
    place: integer('place').notNull(),
    /** The JSON ABI format. */
    entry: jsonb('entry').notNull(),
  },
  (table) => [primaryKey({ columns: [table.address, table.chainId, table.selector, table.place] })],
);

/**
 * Hashes of contracts' code, as nodes reported it at a block: of requested contracts, and of those with an imported
 * ABI.
 */
export const contractCodes = pgTable(
  'contract_codes',
  {
    address: bytea('address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** keccak256; null if there is no code, or it delegates to other code. */
    codeHash: bytea('code_hash'),
    /** The block of the read. */
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    /** Whether an ABI was imported for it. */
    hasAbi: boolean('has_abi').notNull(),
    readAt: timestamp('read_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.chainId] }),
    index('contract_codes_with_abi').on(table.codeHash).where(sql`${table.hasAbi}`),
    index('contract_codes_by_block').on(table.chainId, table.blockNumber),
  ],
);
