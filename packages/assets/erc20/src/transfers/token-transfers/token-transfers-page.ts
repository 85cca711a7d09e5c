import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, type Sql, sql, where } from '@chainstead/db';
import { digits, hex, int4, int8, packedRows } from '@chainstead/db/packed-rows';
import {
  type ChainInSql,
  type ChainQuery,
  type CoveredSubject,
  chainPage,
  chainRange,
  LOG_ORDER,
  type LogPosition,
  labelsOf,
  readLabels,
} from '@chainstead/pages';
import { tokenBook, tokensOf } from '@chainstead/tokens';
import { erc20Transfers } from '../dataset.ts';
import { isOfNfts, ofToken } from '../page/by-contract.ts';

export interface TokenTransfersQuery extends ChainQuery<LogPosition> {
  readonly token: Address;
}

/** @param token its 20 bytes */
export function tokenSubject(token: Sql, chainId: ChainInSql): CoveredSubject {
  return { kind: 'contract', subject: token, chainId, dataset: erc20Transfers.name };
}

/** One range per partition (token-transfers-page.explain.test.ts), as in wallet-transfers-page.ts. */
export function tokenTransfersPage(chain: Chain, query: TokenTransfersQuery) {
  const token = sql`${addressBytes(query.token)}::bytea`;
  const range = chainRange(chain, tokenSubject(token, chain.id), query, LOG_ORDER);
  const ofThis = [...ofToken(token), sql`chain_id = ${chain.id}`];
  const isShown = expectedTrue(sql`NOT ${isOfNfts(token, chain.id)}`);
  const accounts = sql`ARRAY(SELECT account FROM page UNION SELECT counterparty FROM page)`;
  return chainPage({
    ...{ chain, query, range, order: LOG_ORDER, rows: TOKEN_TRANSFERS },
    scan: sql`SELECT ${COLUMNS} FROM erc20_transfer_sides AS transfer ${where([...ofThis, ...range.scan, isShown])}
    ${LOG_ORDER.by(query.order, 'transfer.')} LIMIT ${query.limit + 1}`,
    newest: { table: 'erc20_transfer_sides', of: ofThis },
    related: {
      tokenOf: { column: tokensOf(sql`SELECT ${token}`, chain.id), read: tokenBook },
      labelOf: { column: labelsOf(accounts, chain.id), read: readLabels },
    },
  });
}

const COLUMNS = sql`transfer.block_number, transfer.transaction_index, transfer.log_index,
    transfer.account, transfer.counterparty, transfer.value, transfer.transaction_hash`;

const TOKEN_TRANSFERS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  from: hex<Address>('account', 20),
  to: hex<Address>('counterparty', 20),
  value: digits('value'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
});
