import { ZERO_ADDRESS } from '@chainstead/core';
import {
  addressBytes,
  type ColumnOf,
  columnList,
  columnsAs,
  deleteByKey,
  hasSameKey,
  joinSql,
  namesOf,
  rawSql,
  type Sql,
  sql,
} from '@chainstead/db';
import { DIRECTION } from '@chainstead/db/column-types';
import {
  defineSqlLookup,
  joinSubjects,
  keyOfLookup,
  type RemovedRows,
  type RowsChange,
  type SubjectProjection,
} from '@chainstead/sync/datasets';
import { inShardOfAccount, MOVED_TABLES } from '../moved-tables.ts';
import { forgetAnchorsAbove } from './anchors.ts';
import { erc20Transfers, erc20WalletTokens as table } from './schema.ts';

/**
 * Sums by token, also of wrapping (docs/concepts/balances.md). Don't depend on order. A row stays
 * while a read of its contract is stored.
 */
export const erc20WalletTokens: SubjectProjection = {
  name: 'erc20-wallet-tokens',
  version: 2,
  tables: [table],
  sources: MOVED_TABLES,
  subjects: {
    column: 'wallet',
    // The zero address is part of every mint and burn of the chain, but holds nothing.
    rowsOf: (wallet) => [
      sql`${wallet} <> ${ZERO}::bytea AND account_key = address_key(${wallet}) AND account = ${wallet}`,
    ],
    indexes: ['erc20_transfer_sides_pkey', 'wrapped_coin_moves_pkey'],
  },
  added: (change) => [addSums(change, '+')],
  removed: (change) => {
    const touched = sql`SELECT DISTINCT ${KEY_LIST} FROM ${sidesOf(change, '-')} AS side`;
    const isUnknown = sql`stored.moved_block = ${NONE} AND stored.anchor_block IS NULL`;
    return [addSums(change, '-'), updateNewestMovements(change), deleteByKey(table, KEY, touched, isUnknown)];
  },
  rolledBack: forgetAnchorsAbove('erc20_wallet_tokens', sql`moved_block = -1`),
};

const ZERO = addressBytes(ZERO_ADDRESS);
const NONE = rawSql('-1');

const KEY: readonly ColumnOf<typeof table>[] = ['wallet', 'chainId', 'token'];
const KEY_LIST = columnList(table, KEY);
const MOVED: readonly ColumnOf<typeof table>[] = ['movedBlock', 'movedTransaction', 'movedLog'];
const moved = columnsAs(erc20Transfers, 'moved');
const counted = columnsAs(erc20Transfers, 'counted_row');

/** A chain's commits never run concurrently: one statement can read the anchors. */
function addSums(change: RowsChange, sign: '+' | '-'): Sql {
  const sides = sidesOf(change, sign);
  const anchors = change.access.stored({
    table,
    key: namesOf(table, KEY),
    wanted: sql`SELECT DISTINCT ${KEY_LIST} FROM ${sides} AS side`,
  });
  const later = namesOf(table, MOVED).map((name) =>
    rawSql(
      `${name} = CASE WHEN (${movedOf('excluded')}) > (${movedOf('stored')}) THEN excluded.${name} ELSE stored.${name} END`,
    ),
  );
  return sql`INSERT INTO erc20_wallet_tokens AS stored (${columnList(table, [...KEY, 'total', ...MOVED, 'since'])})
SELECT ${KEY_LIST}, sum(delta), newest[1], newest[2], newest[3], coalesce(sum(since), 0) FROM (
  SELECT ${columnList(table, KEY, 'side')}, side.delta,
    max(ARRAY[side.block_number, side.transaction_index, side.log_index]) OVER (PARTITION BY ${columnList(table, KEY, 'side')}) AS newest,
    CASE WHEN side.block_number > anchored.anchor_block THEN side.delta END AS since
  FROM ${sides} AS side LEFT JOIN ${anchors} AS anchored USING (${KEY_LIST})
) AS changes
GROUP BY ${KEY_LIST}, newest ORDER BY ${KEY_LIST}
ON CONFLICT (${KEY_LIST}) DO UPDATE SET total = stored.total + excluded.total, since = stored.since + excluded.since${
    sign === '+' ? sql`,\n  ${joinSql(later)}` : rawSql('')
  }`;
}

function movedOf(row: string): string {
  return namesOf(table, MOVED)
    .map((name) => `${row}.${name}`)
    .join(', ');
}

function updateNewestMovements(change: RemovedRows): Sql {
  const touched = sql`SELECT DISTINCT ${KEY_LIST}, built_to FROM ${sidesOf(change, '-')} AS side`;
  const newest = defineSqlLookup({
    name: 'newest_movements',
    by: { wallet: 'bytea', chain_id: 'bigint', token: 'bytea', built_to: 'bigint' },
    wanted: touched,
    found: { position: 'integer[]' },
    shard: inShardOfAccount('wallet'),
    find: (
      at,
      isInShard,
    ) => sql`SELECT ARRAY[block_number, transaction_index, log_index] AS position FROM ${change.remaining} AS counted_row
      WHERE ${isInShard('counted_row')} AND token_key(${counted.token}) = token_key(${at.token})
        AND ${counted.chainId} = ${at.chain_id} AND ${counted.account} = ${at.wallet} AND ${counted.token} = ${at.token}
        AND ${counted.blockNumber} <= ${at.built_to}
      ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT 1`,
  });
  const found = change.access.lookup(newest, keyOfLookup('touched', newest));
  const values = namesOf(table, MOVED).map(
    (name, index) => sql`${rawSql(name)} = coalesce(newest.position[${rawSql(String(index + 1))}], ${NONE})`,
  );
  return sql`WITH newest AS MATERIALIZED (
  SELECT ${columnList(table, KEY, 'touched')}, found.position FROM (${touched}) AS touched LEFT JOIN LATERAL (${found}) AS found ON true
)
UPDATE erc20_wallet_tokens AS stored SET ${joinSql(values)}
FROM newest WHERE ${hasSameKey(table, KEY, 'stored', 'newest')}`;
}

/** Self-transfers change nothing. */
function sidesOf(change: RowsChange, sign: '+' | '-'): Sql {
  const value = sql`${rawSql(sign)}${moved.value}`;
  return sql`(SELECT ${moved.account} AS wallet, ${moved.chainId}, ${moved.token}, ${moved.blockNumber}, ${moved.transactionIndex}, ${moved.logIndex},
      CASE ${moved.direction} WHEN ${DIRECTION.received} THEN ${value} WHEN ${DIRECTION.sent} THEN -(${value}) ELSE 0 END AS delta, subjects.built_to
    FROM ${change.rows} AS moved ${joinSubjects(change, moved.account, moved.blockNumber)}
    WHERE ${moved.account} <> ${ZERO})`;
}
