/** The contract's value at a block, stored with a sum of transfers. */
import { rawSql, type Sql, sql } from '@chainstead/db';
import { moment, uint256 } from '@chainstead/db/column-types';
import { integer, numeric } from 'drizzle-orm/pg-core';

/** Base units; unbounded: a malicious contract may overflow 256 bits. */
export const anchorColumns = () => ({
  /** Block of the `balanceOf` read; null: not yet, or that block was reorganized away. */
  anchorBlock: integer('anchor_block'),
  anchorValue: uint256('anchor_value'),
  /** Received minus sent above the anchor. */
  since: numeric('since').notNull().default('0'),
  /** Null: no read, or upstreams contradicted it since, and it is not shown. */
  anchoredAt: moment('anchored_at'),
});

export const FORGOTTEN = sql`anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL`;

/** A reorg removes anchors with their blocks. @param isUnmoved rows that only have an anchor */
export function forgetAnchorsAbove(name: string, isUnmoved: Sql): (chainId: number, ancestor: number) => Sql[] {
  const table = rawSql(name);
  return (chainId, ancestor) => [
    sql`DELETE FROM ${table} WHERE chain_id = ${chainId} AND anchor_block > ${ancestor} AND ${isUnmoved}`,
    sql`UPDATE ${table} SET ${FORGOTTEN} WHERE chain_id = ${chainId} AND anchor_block > ${ancestor}`,
  ];
}
