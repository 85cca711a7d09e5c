import { ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, columnList, columnsAs, namesOf, rawSql, type Sql, sql } from '@chainstead/db';
import {
  defineSqlLookup,
  keyOfLookup,
  type RemovedRows,
  type RowsChange,
  type SubjectProjection,
} from '@chainstead/sync/datasets';
import {
  IN_SHARD_OF_CONTRACT,
  movesOne,
  newestFirst,
  ofSameId,
  reportsHolder,
  sidePosition,
  sidesOf,
  updateLastBlocks,
  WALLET_AMOUNTS,
} from './moved-amounts.ts';
import { nftTransfers, nftWalletCollections, nftWalletTokens as table } from './schema.ts';

const KEY = columnList(table, WALLET_AMOUNTS.key);
const COLLECTION = columnList(nftWalletCollections, ['wallet', 'chainId', 'tokenAddress']);
const other = columnsAs(nftTransfers, 'other_row');

/**
 * ERC-1155 amounts are sums, a single item is one for its newest receiver: in any order. A row
 * stays when a token was sent away, so that its newest change stays known.
 */
export const nftWalletTokens: SubjectProjection = {
  name: 'nft-wallet-tokens',
  version: 2,
  tables: [table, nftWalletCollections],
  subjects: {
    column: 'wallet',
    rowsOf: (wallet) => {
      const of = (side: Sql): Sql =>
        sql`${wallet} <> ${addressBytes(ZERO_ADDRESS)}::bytea AND address_key(${side}) = address_key(${wallet}) AND ${side} = ${wallet}`;
      return [of(rawSql('to_address')), sql`${of(rawSql('from_address'))} AND to_address <> ${wallet}`];
    },
    indexes: ['nft_transfers_by_sender', 'nft_transfers_by_recipient'],
  },
  added: (change) => [
    changeAmounts(change, sidesOf(WALLET_AMOUNTS, change, '+'), sql`greatest(stored.newest, deltas.position)`),
  ],
  removed: (change) => {
    const sides = sidesOf(WALLET_AMOUNTS, change, '-');
    return [
      changeAmounts(change, sides, newestRemaining(change, sides)),
      ...updateLastBlocks(WALLET_AMOUNTS, change),
    ];
  },
};

/** A chain's commits never run concurrently: the amounts read are those that change. */
function changeAmounts({ access }: RowsChange, sides: Sql, newest: Sql): Sql {
  const wanted = sql`SELECT DISTINCT ${KEY} FROM ${sides} AS sides`;
  const amounts = access.stored({ table, key: namesOf(table, WALLET_AMOUNTS.key), wanted });
  return sql`WITH deltas AS (
  SELECT ${KEY}, built_to, sum(delta) AS delta, max(changed_block) AS last_block, max(position) AS position FROM ${sides} AS sides GROUP BY ${KEY}, built_to
), changes AS MATERIALIZED (
  SELECT ${KEY}, deltas.last_block, reported.newest, coalesce(stored.amount, 0) AS before,
    coalesce(stored.amount, 0) + deltas.delta + ${isReceipt('reported.newest')} - ${isReceipt('stored.newest')} AS after
  FROM deltas LEFT JOIN ${amounts} AS stored USING (${KEY}) CROSS JOIN LATERAL (SELECT ${newest} AS newest) AS reported
  ORDER BY ${KEY}
), written AS (
  INSERT INTO nft_wallet_tokens AS stored (${KEY}, amount, last_block, newest) SELECT ${KEY}, after, last_block, newest FROM changes
  ON CONFLICT (${KEY}) DO UPDATE
    SET amount = excluded.amount, last_block = greatest(stored.last_block, excluded.last_block), newest = excluded.newest
)
INSERT INTO nft_wallet_collections AS stored (${COLLECTION}, ids_held)
SELECT ${COLLECTION}, sum((after > 0)::int - (before > 0)::int) FROM changes
GROUP BY ${COLLECTION} HAVING sum((after > 0)::int - (before > 0)::int) <> 0 ORDER BY ${COLLECTION}
ON CONFLICT (${COLLECTION}) DO UPDATE SET ids_held = stored.ids_held + excluded.ids_held`;
}

/** 1 if received in the newest transfer, otherwise 0. */
function isReceipt(newest: string): Sql {
  return rawSql(`coalesce(${newest} & 1, 0)`);
}

function newestRemaining(change: RemovedRows, sides: Sql): Sql {
  const newest = defineSqlLookup({
    name: 'newest_sides',
    by: { wallet: 'bytea', chain_id: 'bigint', token_address: 'bytea', token_id: 'numeric', built_to: 'bigint' },
    wanted: sql`SELECT ${KEY}, built_to FROM ${sides} AS sides`,
    found: { position: 'bigint' },
    shard: IN_SHARD_OF_CONTRACT,
    find: (
      at,
      isInShard,
    ) => sql`SELECT ${sidePosition('other_row', sql`(${other.toAddress} = ${at.wallet})::int`)} AS position FROM ${change.remaining} AS other_row
      WHERE ${ofSameId('other_row', at, isInShard)} AND ${movesOne('other_row')} AND ${reportsHolder('other_row')}
        AND ${at.wallet} IN (${other.toAddress}, ${other.fromAddress}) AND ${other.blockNumber} <= ${at.built_to}
      ORDER BY ${newestFirst('other_row')} LIMIT 1`,
  });
  const found = change.access.lookup(newest, keyOfLookup('deltas', newest));
  return sql`CASE WHEN deltas.position >= stored.newest THEN (${found}) ELSE stored.newest END`;
}
