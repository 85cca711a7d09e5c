import type { Chain } from '@chainstead/chains';
import { parseAddress, systemClock } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import {
  blockBoundsSchema,
  boundsOfRows,
  defineListRoute,
  givenBlockBounds,
  querySchema,
  type RouteModule,
  requireIndexes,
} from '@chainstead/http';
import {
  createMissingIndexes,
  type IndexedColumns,
  type OnDemandBackfill,
  readConsistentPage,
  readIndexed,
  showIndexed,
} from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { erc20Transfers } from '../dataset.ts';
import { BY_CONTRACT } from '../page/by-contract.ts';
import { type RelatedColumns, readRelated } from '../page/related-to-transfers.ts';
import { showTransfer } from '../page/transfer-response.ts';
import { tokenTransfersSchema } from './token-transfers-response.ts';
import { TOKEN_TRANSFERS, type TokenTransfersQuery, tokenTransfersStatement } from './token-transfers-statement.ts';

export interface TokenTransfersOptions {
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract'>;
}

/** docs/api/tokens.md#token-transfers */
export function createTokenTransfersRoute({ onDemandBackfill }: TokenTransfersOptions): RouteModule {
  return (app, dependencies) => {
    const { database, logger, parameters, reads } = dependencies;
    const missing = createMissingIndexes(reads, systemClock, [BY_CONTRACT]);
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/erc20/{address}/transfers',
      operationId: 'getTokenTransfers',
      tags: ['Tokens'],
      summary: 'List ERC-20 transfers by contract',
      description:
        'All transfers of an ERC-20 token, by block number, newest first by default. Mints and burns have the zero address on one side. Use `cursor` for the next page; new rows never shift pages.',
      params: z.object({ address: parameters.address.openapi({ description: 'The token contract' }) }),
      query: querySchema({
        chain: parameters.chain,
        ...parameters.blockBounds,
        limit: parameters.limit,
        order: parameters.order,
        cursor: parameters.cursor,
      }),
      response: { description: 'A page of ERC-20 transfers', schema: tokenTransfersSchema },
      datasets: [erc20Transfers.name],
      cursorName: 'token-transfers',
      filter: z.object({ address: z.string(), chain: z.string().default('eth'), ...blockBoundsSchema }),
      filterOf: ({ address, chain, ...bounds }) => ({ address, chain: chain?.key, ...givenBlockBounds(bounds) }),
      position: z.object({ block: z.int(), transaction: z.int(), log: z.int() }),
      firstPage: 0,
      read: async ({ chain, filter, limit, order, position, requester, upperBound }) => {
        requireIndexes(await missing());
        const token = parseAddress(filter.address);
        const page = await getTokenTransfers(reads, chain, {
          ...{ token, order, limit, ...boundsOfRows(filter), pinnedBlock: upperBound },
          after: position && {
            blockNumber: position.block,
            transactionIndex: position.transaction,
            logIndex: position.log,
          },
        });
        if (!page.indexed.complete)
          await onDemandBackfill.requestContract({ database, logger }, chain, token, requester);
        const last = page.hasNext ? page.transfers.at(-1) : undefined;
        const next = last && {
          position: { block: last.block_number, transaction: last.transaction_index, log: last.log_index },
          upperBound: upperBound ?? page.newestBlock ?? last.block_number,
        };
        return { ...page, token, next };
      },
      present: (page, envelope) => ({
        ...envelope,
        indexed: showIndexed(page.indexed),
        result: page.transfers.map((row) => showTransfer({ ...row, token: page.token }, page)),
      }),
    });
  };
}

/** @throws {InconsistentPageError} if a transfer repeatedly lacks its block */
async function getTokenTransfers(database: ReadDatabase, chain: Chain, query: TokenTransfersQuery) {
  return readConsistentPage(async () => {
    const { rows, page } = await readPackedPage<RowOf<typeof TOKEN_TRANSFERS>, PageColumns>(
      database,
      TOKEN_TRANSFERS,
      (select) => tokenTransfersStatement(chain, query, select),
    );
    return {
      ...readRelated(page, rows),
      transfers: rows.slice(0, query.limit),
      hasNext: rows.length > query.limit,
      indexed: readIndexed(page),
      newestBlock: page.newest,
    };
  });
}

interface PageColumns extends IndexedColumns, PackedTexts, RelatedColumns {
  readonly newest: number | null;
}
