import type { Chain } from '@chainstead/chains';
import { joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import { DIRECTION } from '@chainstead/db/column-types';
import type { LookupShard } from '@chainstead/sync/datasets';
import { erc20TransfersTable } from './transfers/row-table.ts';
import { erc20Transfers } from './transfers/schema.ts';
import { wrappedCoinMovesTable } from './wrapped/row-table.ts';

export const MOVED_TABLES = [erc20TransfersTable, wrappedCoinMovesTable] as const;

/** @param condition over the columns of both tables. Needs an alias. */
export function movedRows({ wrappedNative }: Pick<Chain, 'wrappedNative'>, columns: Sql, condition: Sql): Sql {
  const tables = wrappedNative === null ? [erc20TransfersTable] : MOVED_TABLES;
  const rows = tables.map(({ name }) => sql`SELECT ${columns} FROM ${rawSql(name)} WHERE ${condition}`);
  return sql`(${joinSql(rows, ' UNION ALL ')})`;
}

export const MOVED_DELTA = sql`CASE direction WHEN ${rawSql(DIRECTION.received)} THEN value WHEN ${rawSql(DIRECTION.sent)} THEN -value ELSE 0 END`;

/** @param by column of the lookup key that contains the account */
export function inShardOfAccount<By extends string>(by: By): LookupShard<By> {
  return { column: erc20Transfers.accountKey, key: (at) => sql`address_key(${at[by]})` };
}
