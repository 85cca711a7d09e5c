/**
 * ERC-1155 amounts are received minus sent units. A single item is one for the newest receiver: it
 * may exist before its first transfer, so a sum could be wrong.
 */
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
  tableName,
} from '@chainstead/db';
import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import {
  defineSqlLookup,
  joinSubjects,
  keyOfLookup,
  type LookupShard,
  type RemovedRows,
  type RowsChange,
} from '@chainstead/sync/datasets';
import { nftCollectionBalances, nftTransfers, nftWalletTokens } from './schema.ts';

type AmountsTable = typeof nftWalletTokens | typeof nftCollectionBalances;

export interface SubjectAmounts<Table extends AmountsTable = AmountsTable> {
  readonly table: Table;
  readonly key: readonly ColumnOf<Table>[];
  readonly party: 'wallet' | 'owner';
  readonly subject: 'party' | 'contract';
  readonly hasIsSum: boolean;
}

export const WALLET_AMOUNTS: SubjectAmounts<typeof nftWalletTokens> = {
  table: nftWalletTokens,
  key: ['wallet', 'chainId', 'tokenAddress', 'tokenId'],
  party: 'wallet',
  subject: 'party',
  hasIsSum: false,
};

export const COLLECTION_AMOUNTS: SubjectAmounts<typeof nftCollectionBalances> = {
  table: nftCollectionBalances,
  key: ['tokenAddress', 'chainId', 'tokenId', 'owner'],
  party: 'owner',
  subject: 'contract',
  hasIsSum: true,
};

const moved = columnsAs(nftTransfers, 'moved');

/** `last_block` if only transfers to oneself are known. */
export const UNKNOWN_BLOCK = -1;
/** `last_block` if no row is left, until the next statement. */
export const NO_BLOCK = -2;
const ZERO_PARTY = rawSql(`'\\x${ZERO_ADDRESS.slice(2)}'::bytea`);
const SEVERAL = joinSql([NFT_TRANSFER_KINDS.erc1155Single, NFT_TRANSFER_KINDS.erc1155Batch].map(rawSql));

export function changeBlockOf(lastBlock: number): number | null {
  return lastBlock === UNKNOWN_BLOCK ? null : lastBlock;
}

export function movesOne(row: string): Sql {
  return sql`${columnsAs(nftTransfers, row).kind} NOT IN (${SEVERAL})`;
}

export function changesHolder(row: string): Sql {
  const { fromAddress, toAddress } = columnsAs(nftTransfers, row);
  return sql`${fromAddress} <> ${toAddress} AND ${isCounted(row)}`;
}

/** Transfers that change a holding, and transfers of a single item to oneself. */
export function reportsHolder(row: string): Sql {
  const { fromAddress, toAddress } = columnsAs(nftTransfers, row);
  return sql`(${fromAddress} <> ${toAddress} OR ${movesOne(row)} AND ${toAddress} <> ${ZERO_PARTY}) AND ${isCounted(row)}`;
}

function isCounted(row: string): Sql {
  const { amount, lastTokenId } = columnsAs(nftTransfers, row);
  return sql`${amount} <> 0 AND ${lastTokenId} IS NULL`;
}

export const IN_SHARD_OF_CONTRACT: LookupShard<'token_address'> = {
  column: nftTransfers.collectionKey,
  key: (at) => sql`address_key(${at.token_address})`,
};

/** By the token index. @param isInShard by `collection_key` */
export function ofSameId(
  row: string,
  id: Readonly<Record<'chain_id' | 'token_address' | 'token_id', Sql>>,
  isInShard: (alias: string) => Sql,
): Sql {
  const columns = columnsAs(nftTransfers, row);
  return sql`${isInShard(row)} AND token_id_key(${columns.tokenId}) = token_id_key(${id.token_id})
      AND ${columns.chainId} = ${id.chain_id} AND ${columns.tokenAddress} = ${id.token_address} AND ${columns.tokenId} = ${id.token_id}`;
}

export function newestFirst(row: string): Sql {
  const columns = namesOf(nftTransfers, ['blockNumber', 'transactionIndex', 'logIndex', 'item']);
  return rawSql(columns.map((column) => `${row}.${column} DESC`).join(', '));
}

function changedBlock(row: string): Sql {
  const { fromAddress, toAddress, blockNumber } = columnsAs(nftTransfers, row);
  return sql`CASE WHEN ${fromAddress} = ${toAddress} THEN ${rawSql(UNKNOWN_BLOCK)} ELSE ${blockNumber} END`;
}

/** Place and side (1: the receiver). One log moves a single item once. */
export function sidePosition(row: string, received: Sql): Sql {
  const { blockNumber, logIndex } = columnsAs(nftTransfers, row);
  return sql`(${blockNumber}::bigint << 32) + (${logIndex}::bigint << 1) + ${received}`;
}

/** Never for the zero address. `delta` is of ERC-1155 only, `position` of single items only. */
export function sidesOf(
  { party, subject }: Pick<SubjectAmounts, 'party' | 'subject'>,
  change: RowsChange,
  sign: '+' | '-',
): Sql {
  const side = rawSql(`side.${party}`);
  const amount = sql`${rawSql(sign)}${moved.amount}`;
  const isOne = movesOne('moved');
  return sql`(SELECT ${side}, ${moved.chainId}, ${moved.tokenAddress}, ${moved.tokenId}, subjects.built_to, ${changedBlock('moved')} AS changed_block,
      CASE WHEN ${isOne} THEN 0 ELSE side.delta END AS delta,
      CASE WHEN ${isOne} THEN ${sidePosition('moved', rawSql('side.received'))} END AS position
    FROM ${change.rows} AS moved
      CROSS JOIN LATERAL (VALUES (${moved.toAddress}, ${amount}, 1), (${moved.fromAddress}, -(${amount}), 0)) AS side(${rawSql(party)}, delta, received)
      ${joinSubjects(change, subject === 'party' ? side : moved.tokenAddress, moved.blockNumber)}
    WHERE ${reportsHolder('moved')} AND ${side} <> ${ZERO_PARTY})`;
}

export function updateLastBlocks<Table extends AmountsTable>(
  amounts: SubjectAmounts<Table>,
  change: RemovedRows,
): readonly Sql[] {
  const { table, key, hasIsSum } = amounts;
  const party = rawSql(amounts.party);
  const keyList = columnList(table, key);
  const touched = sql`SELECT DISTINCT ${keyList}, built_to FROM ${sidesOf(amounts, change, '-')} AS moved`;
  const other = columnsAs(nftTransfers, 'other_row');
  const sides = defineSqlLookup({
    name: `newest_changes_by_${amounts.party}`,
    by: { chain_id: 'bigint', token_address: 'bytea', token_id: 'numeric', built_to: 'bigint' },
    wanted: touched,
    found: { [amounts.party]: 'bytea', block: 'integer', has_sum: 'boolean' },
    shard: IN_SHARD_OF_CONTRACT,
    find: (
      at,
      isInShard,
    ) => sql`SELECT side.${party}, max(${changedBlock('other_row')}) AS block, bool_or(NOT (${movesOne('other_row')})) AS has_sum
    FROM ${change.remaining} AS other_row CROSS JOIN LATERAL (VALUES (${other.toAddress}), (${other.fromAddress})) AS side(${party})
    WHERE ${ofSameId('other_row', at, isInShard)} AND ${reportsHolder('other_row')} AND ${other.blockNumber} <= ${at.built_to}
    GROUP BY side.${party}`,
  });
  const noBlock = rawSql(NO_BLOCK);
  const values = [
    sql`last_block = coalesce(touched.block, ${noBlock})`,
    ...(hasIsSum ? [sql`is_sum = coalesce(touched.has_sum, false)`] : []),
  ];
  return [
    sql`WITH touched AS MATERIALIZED (${touched}), ids AS (
  SELECT DISTINCT chain_id, token_address, token_id, built_to FROM touched
), newest AS MATERIALIZED (
  SELECT ids.chain_id, ids.token_address, ids.token_id, ids.built_to, newest.${party}, newest.block, newest.has_sum
  FROM ids CROSS JOIN LATERAL (${change.access.lookup(sides, keyOfLookup('ids', sides))}) AS newest
), changed AS MATERIALIZED (
  SELECT touched.*, newest.block, newest.has_sum FROM touched LEFT JOIN newest USING (chain_id, token_address, token_id, built_to, ${party})
)
UPDATE ${tableName(table)} AS stored SET ${joinSql(values)} FROM changed AS touched WHERE ${hasSameKey<Table>(table, key, 'stored', 'touched')}`,
    deleteByKey<Table>(table, key, touched, sql`stored.last_block = ${noBlock}`),
  ];
}
