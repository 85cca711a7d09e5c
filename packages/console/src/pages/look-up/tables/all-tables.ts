import { ACCOUNT_TABLES } from './account-tables.ts';
import { APTOS_TABLES } from './aptos-tables.ts';
import { COLLECTION_TABLES, NFT_TABLES, TOKEN_TABLES } from './contract-tables.ts';
import type { DataTable } from './data-table.ts';

/** Every table that has a page of its own. */
const ALL_TABLES: readonly DataTable[] = [
  ...ACCOUNT_TABLES,
  ...TOKEN_TABLES,
  ...COLLECTION_TABLES,
  ...NFT_TABLES,
  ...APTOS_TABLES,
];

/** Null: there is none of this name. */
export function findTable(name: string): DataTable | null {
  return ALL_TABLES.find((table) => table.name === name) ?? null;
}
