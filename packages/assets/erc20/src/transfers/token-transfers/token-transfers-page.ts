import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, type Sql, sql, where } from '@chainstead/db';
import { rowsOf } from '@chainstead/db/rows-of';
import {
  type ChainInSql,
  type ChainQuery,
  type CoveredSubject,
  chainPage,
  chainRange,
  LOG_ORDER,
  type LogPosition,
  newestOfRun,
} from '@chainstead/pages';
import { type PackedTokens, readTokens, tokenBook, tokensOf } from '@chainstead/tokens/token-book';
import { erc20Transfers } from '../dataset.ts';
import { isOfNfts, ofToken } from '../page/by-contract.ts';
import { erc20Transfers as erc20TransferSides } from '../schema.ts';

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
  return chainPage({
    ...{ chain, query, range, order: LOG_ORDER, rows: TRANSFERS },
    scan: sql`SELECT ${TRANSFERS.columnsOf('transfer')} FROM erc20_transfer_sides AS transfer ${where([...ofThis, ...range.scan, isShown])}
    ${LOG_ORDER.by(query.order, 'transfer.')} LIMIT ${query.limit + 1}`,
    newest: newestOfRun(query.order, [{ from: 'erc20_transfer_sides', of: ofThis }]),
    labelled: sql`ARRAY(SELECT account FROM page UNION SELECT counterparty FROM page)`,
    related: {
      tokenOf: {
        column: tokensOf(sql`SELECT ${token}`, chain.id),
        read: (packed: PackedTokens) => tokenBook(readTokens(packed)),
      },
    },
  });
}

/** All but the requested token and chain. Rows of this index are of the giving side. */
const TRANSFERS = rowsOf(erc20TransferSides, ['account_key', 'chain_id', 'token', 'direction']);
