import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { rawSql, type Sql, sql } from '@chainstead/db';
import type { ChildSet } from '../definitions/child-sets.ts';

interface WantedUpgrades {
  readonly implementations: readonly Address[];
  readonly emitters: readonly Address[];
  /** Last block. */
  readonly to: number;
}

/**
 * Returns the statement that reads the upgrades of proxies to some implementations, ascending: the entries of the index on the implementation.
 * They are few, since a name has at most a thousand addresses.
 */
export function upgradesStatement(
  { id }: Pick<Chain, 'id'>,
  { table, column }: Pick<ChildSet, 'table' | 'column'>,
  { implementations, emitters, to }: WantedUpgrades,
): Sql {
  return sql`SELECT '0x' || encode(upgrade.contract, 'hex') AS proxy, '0x' || encode(given.implementation, 'hex') AS implementation,
         upgrade.block_number, upgrade.log_index
       FROM (SELECT decode(substr(address, 3), 'hex') AS implementation FROM unnest(${implementations}::text[]) AS address) AS given
       CROSS JOIN LATERAL (
         SELECT contract, block_number, log_index FROM ${rawSql(table)} AS named
          WHERE named.${rawSql(column)} = given.implementation AND chain_id = ${id} AND block_number <= ${to}
            AND contract = ANY (ARRAY(SELECT decode(substr(address, 3), 'hex') FROM unnest(${emitters}::text[]) AS address)) OFFSET 0) AS upgrade
       ORDER BY upgrade.block_number, upgrade.log_index`;
}
