/** What operators imported for decoding calls and events. */
import { bytea } from '@chainstead/db/column-types';
import { bigint, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';

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
