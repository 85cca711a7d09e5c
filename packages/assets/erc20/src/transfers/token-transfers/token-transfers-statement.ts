import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, joinSql, type Sql, sql, where } from '@chainstead/db';
import { digits, hex, int4, int8, packedRows } from '@chainstead/db/packed-rows';
import {
  blocksOf,
  type ChainInSql,
  type CoveredSubject,
  labelsOf,
  type PageBounds,
  pageRange,
  scanRange,
} from '@chainstead/pages';
import { tokensOf } from '@chainstead/tokens';
import { erc20Transfers } from '../dataset.ts';
import { isOfNfts, ofToken } from '../page/by-contract.ts';
import { firstInOrder, PLACE_COLUMNS, rangeOf, type TransferKey, transfersAfter } from '../page/transfer-place.ts';

export interface TokenTransfersQuery extends PageBounds {
  readonly token: Address;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  readonly after: TransferKey | null;
}

/** @param token its 20 bytes */
export function tokenSubject(token: Sql, chainId: ChainInSql): CoveredSubject {
  return { kind: 'contract', subject: token, chainId, dataset: erc20Transfers.name };
}

/**
 * One range per partition (token-transfers-statement.explain.test.ts), as in
 * wallet-transfers-statement.ts.
 */
export function tokenTransfersStatement(
  chain: Chain,
  query: TokenTransfersQuery,
  select: Sql = TOKEN_TRANSFERS.select,
): Sql {
  const token = sql`${addressBytes(query.token)}::bytea`;
  const { ctes, lower, upper, complete } = pageRange(chain, chain.id, tokenSubject(token, chain.id), query, null);
  const after = query.after === null ? null : transfersAfter(query.order, query.after);
  const { scan, far } = scanRange(query.order, { lower, upper }, after);
  const ofThis = [...ofToken(token), sql`chain_id = ${chain.id}`];
  const shown = expectedTrue(sql`NOT ${isOfNfts(token, chain.id)}`);
  const page = rangeOf(TABLE, [...ofThis, ...scan, shown], firstInOrder(query.order, query.limit + 1), PAGE_COLUMNS);
  const above = sql`block_number > coalesce((SELECT indexed_to FROM covered), -1)`;
  const newest = rangeOf(TABLE, [...ofThis, above], sql`ORDER BY block_number DESC LIMIT 1`, sql`block_number`);
  return sql`WITH ${joinSql(ctes)}, page AS MATERIALIZED (SELECT * FROM (${page}) AS transfer ${where(far)})
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete,
  greatest(covered.indexed_to, (${newest})) AS newest,
  ${tokensOf(sql`SELECT ${token}`, chain.id)} AS tokens,
  ${blocksOf(sql`SELECT block_number FROM page`, chain.id)} AS blocks,
  ${labelsOf(sql`ARRAY(SELECT account FROM page UNION SELECT counterparty FROM page)`, chain.id)} AS labels,
  transfers.*
FROM covered CROSS JOIN (SELECT ${select} FROM page) AS transfers`;
}

const TABLE = 'erc20_transfer_sides';
const PAGE_COLUMNS = sql`${PLACE_COLUMNS}, transfer.account, transfer.counterparty, transfer.value, transfer.transaction_hash`;

export const TOKEN_TRANSFERS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  from: hex<Address>('account', 20),
  to: hex<Address>('counterparty', 20),
  value: digits('value'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
});
