import { parseAddress, systemClock } from '@chainstead/core';
import { DIRECTION } from '@chainstead/db/direction';
import {
  blockBoundsSchema,
  chainQueryOf,
  defineListRoute,
  givenBlockBounds,
  querySchema,
  type RouteModule,
  requireIndexes,
} from '@chainstead/http';
import { createMissingIndexes, LOG_ORDER, showIndexed } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import { z } from '@hono/zod-openapi';
import { erc20Transfers } from '../dataset.ts';
import { BY_CONTRACT } from '../page/by-contract.ts';
import { showTransfer } from '../page/transfer-response.ts';
import { tokenTransfersPage } from './token-transfers-page.ts';
import { tokenTransfersSchema } from './token-transfers-response.ts';

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
      position: z.object(LOG_ORDER.fields),
      firstPage: 0,
      read: async (page) => {
        requireIndexes(await missing());
        const { chain } = page;
        const token = parseAddress(page.filter.address);
        const list = await tokenTransfersPage(chain, { ...chainQueryOf(page), token }).read(reads);
        if (!list.indexed.complete)
          await onDemandBackfill.requestContract({ database, logger }, chain, token, page.requester);
        return { ...list, token };
      },
      present: (list, envelope) => ({
        ...envelope,
        indexed: showIndexed(list.indexed),
        result: list.rows.map((row) =>
          showTransfer({ ...row, token: list.token, direction: DIRECTION.sent }, list),
        ),
      }),
    });
  };
}
