/** SQL for changed transfers of requested tokens, after a `moved` CTE. */
import { ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type ColumnOf, columnList, columnsAs, rawSql, type Sql, sql } from '@chainstead/db';
import { DIRECTION } from '@chainstead/db/column-types';
import { joinSubjects, type RowsChange } from '@chainstead/sync/datasets';
import { erc20HolderCounts, erc20Holders, erc20Transfers } from './schema.ts';

const NOBODY = addressBytes(ZERO_ADDRESS);

export const TOKEN: readonly ColumnOf<typeof erc20HolderCounts>[] = ['token', 'chainId'];
export const HOLDER: readonly ColumnOf<typeof erc20Holders>[] = ['token', 'chainId', 'account'];
export const TOKEN_LIST = columnList(erc20HolderCounts, TOKEN);
export const HOLDER_LIST = columnList(erc20Holders, HOLDER);
const changed = columnsAs(erc20Transfers, 'changed_row');
export const other = columnsAs(erc20Transfers, 'other_row');

export const RECEIVED = rawSql(String(DIRECTION.received));

/** Each transfer of a token once, by the token index. */
export function isOfToken(at: Readonly<Record<'token' | 'chain_id', Sql>>): Sql {
  return sql`token_key(${other.token}) = token_key(${at.token}) AND ${other.token} = ${at.token}
      AND ${other.chainId} = ${at.chain_id} AND ${other.direction} <> ${RECEIVED}`;
}

export function changedTokens(change: RowsChange, columns: Sql): Sql {
  return sql`WITH moved AS MATERIALIZED ${movesOf(change)} SELECT ${columns} FROM (${TOKENS_CHANGED}) AS changed`;
}

export function changedHolders(change: RowsChange): Sql {
  return sql`WITH moved AS MATERIALIZED ${movesOf(change)} SELECT DISTINCT ${HOLDER_LIST} FROM ${SIDES} AS side`;
}

/** CTE `moved`: each transfer once, by the sender's row or a self-transfer's. */
export function movesOf(change: RowsChange): Sql {
  return sql`(
  SELECT ${changed.token}, ${changed.chainId}, ${changed.blockNumber}, ${changed.transactionIndex}, ${changed.logIndex},
    ${changed.account} AS sender, ${changed.counterparty} AS recipient, ${changed.value}, subjects.built_to,
    CASE WHEN ${changed.direction} = ${DIRECTION.self} THEN 0 WHEN ${changed.account} = ${NOBODY} THEN ${changed.value}
      WHEN ${changed.counterparty} = ${NOBODY} THEN -${changed.value} ELSE 0 END AS minted
  FROM ${change.rows} AS changed_row ${joinSubjects(change, changed.token, changed.blockNumber)}
  WHERE ${changed.direction} <> ${RECEIVED}
)`;
}

export const SIDES = sql`(SELECT moved.token, moved.chain_id, moved.block_number, moved.transaction_index, moved.built_to, side.account, side.delta
    FROM moved CROSS JOIN LATERAL (VALUES (moved.recipient, moved.value), (moved.sender, -moved.value)) AS side(account, delta)
    WHERE moved.sender <> moved.recipient AND moved.value > 0 AND side.account <> ${NOBODY})`;

export const TRANSACTIONS = sql`(SELECT token, chain_id, block_number, transaction_index, count(*) AS transfers FROM moved
    GROUP BY token, chain_id, block_number, transaction_index)`;

export const TOKENS_CHANGED = sql`SELECT token, chain_id, built_to, min(block_number) AS lowest, max(block_number) AS highest,
    count(*) AS transfers, sum(minted) AS minted FROM moved GROUP BY token, chain_id, built_to`;
