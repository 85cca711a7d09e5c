import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import {
  blocksOfOld,
  boundsInSqlOld,
  labelsOfOld,
  type PageBounds,
  type SubjectInSql,
  scanBoundsOld,
} from '@chainstead/data-api';
import { addressBytes, expectedTrueOld, type Statement, whereOld } from '@chainstead/db';
import { digits, hex, int4, int8, packedRows } from '@chainstead/db/packed-rows';
import { erc20Transfers } from '../dataset.ts';
import { isOfNfts, ofToken } from '../page/by-contract.ts';
import { tokensOf } from '../page/related-to-transfers.ts';
import { firstInOrder, PLACE_COLUMNS, rangeOf, type TransferKey, transfersAfter } from '../page/transfer-place.ts';

/** The query of a page. */
export interface TokenTransfersQuery extends PageBounds {
  readonly token: Address;
  readonly order: 'ASC' | 'DESC';
  /** Requested rows; one more is read to detect a next page. */
  readonly limit: number;
  /** Rows after this one; null for the first page. */
  readonly after: TransferKey | null;
}

/** SQL for a token as the subject of a response. */
export function tokenSubject(token: string, chainId: string): SubjectInSql {
  return { kind: 'contract', subject: token, chainId, dataset: erc20Transfers.name };
}

/**
 * Builds the statement of a page of a token's transfers: in each partition a range of
 * `erc20_transfer_sides_by_contract` that stops after the block with row limit + 1, one partition after the other
 * (token-transfers-statement.explain.test.ts). As in wallet-transfers-statement.ts, the planner is kept from reading
 * and sorting a whole token.
 */
export function tokenTransfersStatement(
  chain: Chain,
  query: TokenTransfersQuery,
  select: string = TOKEN_TRANSFERS.selectOld,
): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const token = `${bind(addressBytes(query.token))}::bytea`;
  const chainId = bind(chain.id);
  const { ctes, lower, upper, complete } = boundsInSqlOld(
    chain,
    chainId,
    tokenSubject(token, chainId),
    query,
    bind,
    null,
  );
  const after = query.after === null ? null : transfersAfter(query.order, query.after, bind);
  const { scan, far } = scanBoundsOld(query.order, { lower, upper }, after);
  const ofThis = [...ofToken(token), `chain_id = ${chainId}`];
  const shown = expectedTrueOld(`NOT ${isOfNfts(token, chainId)}`);
  const page = rangeOf(
    TABLE,
    [...ofThis, ...scan, shown],
    firstInOrder(query.order, bind(query.limit + 1)),
    PAGE_COLUMNS,
  );
  const above = 'block_number > coalesce((SELECT indexed_to FROM covered), -1)';
  const newest = rangeOf(TABLE, [...ofThis, above], 'ORDER BY block_number DESC LIMIT 1', 'block_number');
  const text = `WITH ${ctes.join(', ')}, page AS MATERIALIZED (SELECT * FROM (${page}) AS transfer ${whereOld(far)})
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete,
  greatest(covered.indexed_to, (${newest})) AS newest,
  ${tokensOf(`SELECT ${token}`, chainId)} AS tokens,
  ${blocksOfOld('SELECT block_number FROM page', chainId)} AS blocks,
  ${labelsOfOld('ARRAY(SELECT account FROM page UNION SELECT counterparty FROM page)', chainId)} AS labels,
  transfers.*
FROM covered CROSS JOIN (SELECT ${select} FROM page) AS transfers`;
  return { text, values };
}

const TABLE = 'erc20_transfer_sides';
const PAGE_COLUMNS = `${PLACE_COLUMNS}, transfer.account, transfer.counterparty, transfer.value, transfer.transaction_hash`;

/** The rows of a page. Addresses and hashes are lower-case hexadecimal text. */
export const TOKEN_TRANSFERS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  from: hex<Address>('account', 20),
  to: hex<Address>('counterparty', 20),
  value: digits('value'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
});
