import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, type Sql, sql, where } from '@chainstead/db';
import { DIRECTION } from '@chainstead/db/column-types';
import { rowsOf } from '@chainstead/db/rows-of';
import { addressParameter } from '@chainstead/http';
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
import { defineListRoute } from '../../routes.ts';
import { erc20Transfers } from '../dataset.ts';
import { BY_CONTRACT, isOfNfts, ofToken, transferView } from '../page/transfer-response.ts';
import { erc20Transfers as erc20TransferSides } from '../schema.ts';

/** docs/api/tokens.md#token-transfers */
export const tokenTransfersRoute = defineListRoute({
  path: '/api/v2.2/erc20/{address}/transfers',
  operationId: 'getTokenTransfers',
  tag: 'Tokens',
  summary: 'List ERC-20 transfers by contract',
  description:
    'All transfers of an ERC-20 token, by block number, newest first by default. Mints and burns have the zero address on one side. Use `cursor` for the next page; new rows never shift pages.',
  params: [{ address: addressParameter().openapi({ description: 'The token contract' }) }],
  query: ['chain', 'blockBounds', 'limit', 'order'],
  name: 'Erc20TokenTransfers',
  response: 'A page of ERC-20 transfers',
  datasets: [erc20Transfers.name],
  indexes: [BY_CONTRACT],
  position: LOG_ORDER.position,
  firstPage: 0,
  async read({ database, logger, reads, services, chain, address: token, query, requester }) {
    const list = await tokenTransfersPage(chain, { ...query, token }).read(reads);
    if (!list.indexed.complete)
      await services.onDemandBackfill.requestContract({ database, logger }, chain, token, requester);
    return list;
  },
  view: transferView,
  row: (row, list, { address: token }) => [{ ...row, token, direction: DIRECTION.sent }, list],
});

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
