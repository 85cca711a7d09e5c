import { ZERO_ADDRESS } from '@chainstead/core';
import {
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
import {
  defineSqlLookup,
  joinSubjects,
  keyOfLookup,
  type RemovedRows,
  type RowsChange,
  type SubjectProjection,
} from '@chainstead/sync/datasets';
import {
  COLLECTION_AMOUNTS,
  IN_SHARD_OF_CONTRACT,
  movesOne,
  NO_BLOCK,
  newestFirst,
  ofSameId,
  reportsHolder,
  sidesOf,
  UNKNOWN_BLOCK,
  updateLastBlocks,
} from './moved-amounts.ts';
import {
  nftCollectionBalances as balances,
  nftCollectionCounts as counts,
  nftCollectionIds as ids,
  nftTransfers,
  nftCollectionOwners as owners,
} from './schema.ts';

const ID_KEY: readonly (ColumnOf<typeof ids> & ColumnOf<typeof balances> & ColumnOf<typeof nftTransfers>)[] = [
  'tokenAddress',
  'chainId',
  'tokenId',
];
const KEY = columnList(balances, COLLECTION_AMOUNTS.key);
const ID = columnList(ids, ID_KEY);
const OWNER = columnList(owners, ['tokenAddress', 'chainId', 'owner']);
const COLLECTION = columnList(counts, ['tokenAddress', 'chainId']);
const MOVED_ID = columnList(nftTransfers, ID_KEY, 'moved');
const ZERO_PARTY = rawSql(`'\\x${ZERO_ADDRESS.slice(2)}'::bytea`);
const moved = columnsAs(nftTransfers, 'moved');
const other = columnsAs(nftTransfers, 'other_row');

/**
 * A single item's owner is its newest receiver; an ERC-1155 amount is a sum, negative while its
 * first receipt is not indexed. Neither depends on the order of transfers.
 */
export const nftCollectionOwners: SubjectProjection = {
  name: 'nft-collection-owners',
  version: 3,
  tables: [balances, ids, owners, counts],
  subjects: {
    column: 'token_address',
    rowsOf: (contract) => [sql`collection_key = address_key(${contract}) AND token_address = ${contract}`],
    indexes: ['nft_transfers_pkey'],
  },
  added: (change) => [changeOwners(change, '+', newReceivers(change))],
  removed: (change) => [
    changeOwners(change, '-', remainingReceivers(change)),
    ...updateLastBlocks(COLLECTION_AMOUNTS, change),
    ...updateIds(change),
  ],
};

/** In key order. @param receivers `newest`, `receiver`, `former` of changed ids */
function changeOwners(change: RowsChange, sign: '+' | '-', receivers: Sql): Sql {
  const sides = sql`received AS MATERIALIZED (${receivers}), sides AS (
  SELECT ${KEY}, changed_block, delta, position IS NULL AS is_sum FROM ${sidesOf(COLLECTION_AMOUNTS, change, sign)} AS moved
  UNION ALL
  SELECT ${ID}, side.owner, ${rawSql(UNKNOWN_BLOCK)}, side.delta, false
  FROM received CROSS JOIN LATERAL (VALUES (received.former, -1), (received.receiver, 1)) AS side(owner, delta) WHERE side.owner <> ${ZERO_PARTY}
)`;
  const wanted = (key: Sql, of: Sql): Sql => sql`WITH ${sides} SELECT DISTINCT ${key} FROM ${of}`;
  const { access } = change;
  const storedAmounts = access.stored({
    table: balances,
    key: namesOf(balances, COLLECTION_AMOUNTS.key),
    wanted: wanted(KEY, sql`sides`),
  });
  const storedIds = access.stored({
    table: ids,
    key: namesOf(ids, ID_KEY),
    wanted: wanted(ID, sql`(SELECT ${ID} FROM sides UNION ALL SELECT ${ID} FROM received) AS reported`),
  });
  const storedOwners = access.stored({
    table: owners,
    key: namesOf(owners, ['tokenAddress', 'chainId', 'owner']),
    wanted: wanted(OWNER, sql`sides`),
  });
  return sql`WITH ${sides}, deltas AS (
  SELECT ${KEY}, sum(delta) AS delta, max(changed_block) AS last_block, bool_or(is_sum) AS is_sum FROM sides GROUP BY ${KEY}
), changes AS MATERIALIZED (
  SELECT ${KEY}, deltas.last_block, deltas.is_sum, coalesce(stored.amount, 0) AS before, coalesce(stored.amount, 0) + delta AS after
  FROM deltas LEFT JOIN ${storedAmounts} AS stored USING (${KEY}) ORDER BY ${KEY}
), amounts_written AS (
  INSERT INTO nft_collection_balances AS stored (${KEY}, amount, last_block, is_sum) SELECT ${KEY}, after, last_block, is_sum FROM changes
  ON CONFLICT (${KEY}) DO UPDATE
    SET amount = excluded.amount, last_block = greatest(stored.last_block, excluded.last_block), is_sum = stored.is_sum OR excluded.is_sum
), id_changes AS MATERIALIZED (
  SELECT ${ID}, net.supply, net.last_block, coalesce(stored.holders, 0) + net.holders AS holders, coalesce(stored.is_held, false) AS was_held,
    CASE WHEN net.is_received THEN net.newest ELSE stored.newest END AS newest,
    CASE WHEN net.is_received THEN net.receiver ELSE stored.receiver END AS receiver
  FROM (${netOfIds()}) AS net LEFT JOIN ${storedIds} AS stored USING (${ID})
  ORDER BY ${ID}
), ids_written AS (
  INSERT INTO nft_collection_ids AS stored (${ID}, token_hash, holders, supply, last_block, newest, receiver)
  SELECT ${ID}, ${TOKEN_HASH}, holders, supply, last_block, newest, receiver FROM id_changes
  ON CONFLICT (${ID}) DO UPDATE
    SET holders = excluded.holders, supply = stored.supply + excluded.supply, last_block = greatest(stored.last_block, excluded.last_block),
      newest = excluded.newest, receiver = excluded.receiver
), owner_changes AS MATERIALIZED (
  SELECT ${OWNER}, coalesce(stored.ids_held, 0) AS before, coalesce(stored.ids_held, 0) + net.ids_held AS after
  FROM (SELECT ${OWNER}, ${DIFFERENCE} AS ids_held FROM changes GROUP BY ${OWNER} HAVING ${DIFFERENCE} <> 0) AS net
    LEFT JOIN ${storedOwners} AS stored USING (${OWNER})
  ORDER BY ${OWNER}
), owners_deleted AS (
  DELETE FROM nft_collection_owners AS stored USING owner_changes AS gone
  WHERE ${hasSameKey(owners, ['tokenAddress', 'chainId', 'owner'], 'stored', 'gone')} AND gone.after = 0
), owners_written AS (
  INSERT INTO nft_collection_owners (${OWNER}, ids_held)
  SELECT ${OWNER}, after FROM owner_changes WHERE after > 0
  ON CONFLICT (${OWNER}) DO UPDATE SET ids_held = excluded.ids_held
), counted_rows AS (
  SELECT ${moved.tokenAddress}, ${moved.chainId}, ${rawSql(sign)}count(*) AS transfers FROM ${subjectRows(change)}
  GROUP BY ${moved.tokenAddress}, ${moved.chainId}
)
INSERT INTO nft_collection_counts AS stored (${COLLECTION}, transfers, ids, owners)
SELECT ${COLLECTION}, transfers, coalesce(of_ids.difference, 0), coalesce(of_owners.difference, 0)
FROM counted_rows
  LEFT JOIN (SELECT ${COLLECTION}, sum((${IS_HELD})::int - was_held::int) AS difference FROM id_changes GROUP BY ${COLLECTION}) AS of_ids
    USING (${COLLECTION})
  LEFT JOIN (SELECT ${COLLECTION}, ${DIFFERENCE} AS difference FROM owner_changes GROUP BY ${COLLECTION}) AS of_owners USING (${COLLECTION})
ORDER BY ${COLLECTION}
ON CONFLICT (${COLLECTION}) DO UPDATE
  SET transfers = stored.transfers + excluded.transfers, ids = stored.ids + excluded.ids, owners = stored.owners + excluded.owners`;
}

/** Not a join: without statistics the planner would compare all pairs of rows. */
function netOfIds(): Sql {
  return sql`SELECT ${ID}, max(last_block) AS last_block, sum(holders) AS holders, sum(supply) AS supply, bool_or(is_received) AS is_received,
      max(newest) AS newest, (array_agg(receiver) FILTER (WHERE is_received))[1] AS receiver
    FROM (
      SELECT ${ID}, last_block, (after > 0)::int - (before > 0)::int AS holders, greatest(after, 0) - greatest(before, 0) AS supply,
        false AS is_received, NULL::integer[] AS newest, NULL::bytea AS receiver FROM changes
      UNION ALL
      SELECT ${ID}, ${rawSql(UNKNOWN_BLOCK)}, 0, 0, true, newest, receiver FROM received
    ) AS parts GROUP BY ${ID}`;
}

const TOKEN_HASH = rawSql(`decode(md5('0x' || encode(token_address, 'hex') || token_id::text), 'hex')`);

const DIFFERENCE = rawSql('sum((after > 0)::int - (before > 0)::int)');

/** By the same expression as the column. */
const IS_HELD = sql`CASE WHEN receiver IS NULL THEN holders > 0 ELSE receiver <> ${ZERO_PARTY} END`;

const positionOf = (row: string): Sql =>
  sql`ARRAY[${columnList(nftTransfers, ['blockNumber', 'transactionIndex', 'logIndex', 'item'], row)}]`;

const movesOneId = (row: string): Sql => sql`${movesOne(row)} AND ${reportsHolder(row)}`;

function newReceivers(change: RowsChange): Sql {
  return sql`SELECT ${columnList(ids, ID_KEY, 'reported')}, reported.newest, reported.receiver, stored.receiver AS former FROM (
    SELECT DISTINCT ON (${MOVED_ID}) ${MOVED_ID}, ${positionOf('moved')} AS newest, ${moved.toAddress} AS receiver
    FROM ${subjectRows(change)} WHERE ${movesOneId('moved')}
    ORDER BY ${MOVED_ID}, ${newestFirst('moved')}
  ) AS reported LEFT JOIN LATERAL (${storedId('reported', change)}) AS stored ON true
  WHERE stored.newest IS NULL OR stored.newest < reported.newest`;
}

function remainingReceivers(change: RemovedRows): Sql {
  const gone = sql`SELECT ${MOVED_ID}, subjects.built_to, max(${positionOf('moved')}) AS newest
    FROM ${subjectRows(change)} WHERE ${movesOneId('moved')} GROUP BY ${MOVED_ID}, subjects.built_to`;
  const lastMove = defineSqlLookup({
    name: 'last_moves',
    by: { token_address: 'bytea', chain_id: 'bigint', token_id: 'numeric', built_to: 'bigint' },
    wanted: gone,
    found: { newest: 'integer[]', receiver: 'bytea' },
    shard: IN_SHARD_OF_CONTRACT,
    find: (
      at,
      isInShard,
    ) => sql`SELECT ${positionOf('other_row')} AS newest, ${other.toAddress} AS receiver FROM ${change.remaining} AS other_row
    WHERE ${ofSameId('other_row', at, isInShard)} AND ${movesOneId('other_row')} AND ${other.blockNumber} <= ${at.built_to}
    ORDER BY ${newestFirst('other_row')} LIMIT 1`,
  });
  return sql`SELECT ${columnList(ids, ID_KEY, 'gone')}, last_move.newest, last_move.receiver, stored.receiver AS former FROM (
    ${gone}
  ) AS gone CROSS JOIN LATERAL (${storedId('gone', change)}) AS stored LEFT JOIN LATERAL (
    ${change.access.lookup(lastMove, keyOfLookup('gone', lastMove))}
  ) AS last_move ON true
  WHERE gone.newest >= stored.newest`;
}

function storedId(relation: string, change: RowsChange): Sql {
  const wanted = sql`SELECT DISTINCT ${MOVED_ID} FROM ${subjectRows(change)}`;
  const known = change.access.stored({ table: ids, key: namesOf(ids, ID_KEY), wanted });
  return sql`SELECT ids.newest, ids.receiver FROM ${known} AS ids WHERE ${hasSameKey(ids, ID_KEY, 'ids', relation)} LIMIT 1`;
}

function subjectRows(change: RowsChange): Sql {
  return sql`${change.rows} AS moved ${joinSubjects(change, moved.tokenAddress, moved.blockNumber)}`;
}

function updateIds(change: RemovedRows): readonly Sql[] {
  const touchedIds = sql`SELECT DISTINCT ${MOVED_ID} FROM ${subjectRows(change)}`;
  const contracts = sql`SELECT DISTINCT ${joinSql([moved.tokenAddress, moved.chainId])} FROM ${subjectRows(change)}`;
  const amounts = change.access.stored({ table: balances, key: namesOf(balances, ID_KEY), wanted: touchedIds });
  const noBlock = rawSql(NO_BLOCK);
  return [
    sql`WITH touched AS MATERIALIZED (
  SELECT ids.*, (
    SELECT max(amounts.last_block) FROM ${amounts} AS amounts WHERE ${hasSameKey(balances, ID_KEY, 'amounts', 'ids')}
  ) AS newest FROM (${touchedIds}) AS ids
)
UPDATE nft_collection_ids AS stored SET last_block = coalesce(touched.newest, ${noBlock}) FROM touched WHERE ${hasSameKey(ids, ID_KEY, 'stored', 'touched')}`,
    deleteByKey(ids, ID_KEY, touchedIds, sql`stored.last_block = ${noBlock}`),
    deleteByKey(counts, ['tokenAddress', 'chainId'], contracts, sql`stored.transfers = 0`),
  ];
}
