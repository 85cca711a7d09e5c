/** Where what changes balances of ERC-20 tokens lies: tables of the same columns. */
import type { Chain } from '@chainstead/chains';
import type { LookUpPlace } from '@chainstead/sync';
import { erc20TransfersTable } from './transfers/row-table.ts';
import { wrappedCoinMovesTable } from './wrapped/row-table.ts';

/** Transfers, and what was wrapped and unwrapped without one. */
export const MOVED_TABLES = [erc20TransfersTable, wrappedCoinMovesTable] as const;

/**
 * A relation of what moved on a chain, of rows that meet a condition: of those tables that have any. It wants an alias, and each table is
 * asked by its own indexes.
 * @param condition SQL over the columns that both have
 */
export function movedRows({ wrappedNative }: Pick<Chain, 'wrappedNative'>, columns: string, condition: string): string {
  const tables = wrappedNative === null ? [erc20TransfersTable] : MOVED_TABLES;
  return `(${tables.map(({ name }) => `SELECT ${columns} FROM ${name} WHERE ${condition}`).join(' UNION ALL ')})`;
}

/** What of a row changes the balance of its account: SQL over its columns. */
export const MOVED_DELTA = 'CASE direction WHEN 1 THEN value WHEN 0 THEN -value ELSE 0 END';

/** Where rows of the account lie that a look-up is asked by. @param by its name there */
export function withAccount<By extends string>(by: By): LookUpPlace<By> {
  return { table: 'erc20_transfers', type: 'bigint', key: (at) => `address_key(${at[by]})` };
}
