/** What operators imported for decoding calls and events. */
import { bytea } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/** Signatures of imported lists, by source: nobody knows of which contract. */
export const importedSignatures = pgTable(
  'imported_signatures',
  {
    /** First four bytes of the signature's hash: the selector of a function, the beginning of an event's topic0. */
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
    /** As of {@link importedSignatures}. */
    selector: bytea('selector').notNull(),
    /** Among the ABI's entries. */
    place: integer('place').notNull(),
    /** As ABIs in JSON have it. */
    entry: jsonb('entry').notNull(),
  },
  (table) => [primaryKey({ columns: [table.address, table.chainId, table.selector, table.place] })],
);

/** Hashes of contracts' code, as nodes said of it at a block: of those that were asked about, and of those that an ABI was imported for. */
export const contractCodes = pgTable(
  'contract_codes',
  {
    address: bytea('address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** keccak256; null where there is none, or it acts by the code of others. */
    codeHash: bytea('code_hash'),
    /** At which it was read. */
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
