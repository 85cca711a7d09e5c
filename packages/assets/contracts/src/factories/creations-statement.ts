import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexText, rawSql, type Sql, sql } from '@chainstead/db';
import type { ChildSet } from '../definitions/child-sets.ts';

/** One index entry per address. */
export function creationsStatement(
  { id }: Pick<Chain, 'id'>,
  { table, column }: Pick<ChildSet, 'table' | 'column'>,
  addresses: readonly Address[],
): Sql {
  const child = rawSql(column);
  return sql`SELECT ${hexText('given.child')} AS child, created.block_number, created.transaction_index, created.log_index
       FROM unnest(${addresses.map(addressBytes)}::bytea[]) AS given (child)
       CROSS JOIN LATERAL (
         SELECT block_number, transaction_index, log_index FROM ${rawSql(table)} AS creation
          WHERE creation.${child} = given.child AND chain_id = ${id}
          ORDER BY creation.${child}, chain_id, block_number, transaction_index, log_index LIMIT 1) AS created`;
}
