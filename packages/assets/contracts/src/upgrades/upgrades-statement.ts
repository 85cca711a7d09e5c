import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexText, rawSql, type Sql, sql } from '@chainstead/db';
import type { ChildSet } from '../definitions/child-sets.ts';

interface WantedUpgrades {
  readonly implementations: readonly Address[];
  readonly emitters: readonly Address[];
  readonly to: number;
}

/** Ascending. Few: a name has at most a thousand addresses. */
export function upgradesStatement(
  { id }: Pick<Chain, 'id'>,
  { table, column }: Pick<ChildSet, 'table' | 'column'>,
  { implementations, emitters, to }: WantedUpgrades,
): Sql {
  return sql`SELECT ${hexText('upgrade.contract')} AS proxy, ${hexText('given.implementation')} AS implementation,
         upgrade.block_number AS block, upgrade.log_index AS log
       FROM unnest(${implementations.map(addressBytes)}::bytea[]) AS given (implementation)
       CROSS JOIN LATERAL (
         SELECT contract, block_number, log_index FROM ${rawSql(table)} AS named
          WHERE named.${rawSql(column)} = given.implementation AND chain_id = ${id} AND block_number <= ${to}
            AND contract = ANY (${emitters.map(addressBytes)}::bytea[]) OFFSET 0) AS upgrade
       ORDER BY upgrade.block_number, upgrade.log_index`;
}
