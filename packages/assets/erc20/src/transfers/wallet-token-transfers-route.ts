import type { Address } from '@chainstead/core';
import {
  blockBoundsSchema,
  booleanParameter,
  boundsOfRows,
  defineListRoute,
  givenBlockBounds,
  querySchema,
  type RouteModule,
  totalOfRun,
} from '@chainstead/http';
import { showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { erc20Transfers } from './dataset.ts';
import { getWalletTokenTransfers, type WalletTransfersPage } from './get-wallet-token-transfers.ts';
import { showTransfers, walletTokenTransfersSchema } from './wallet-token-transfers-response.ts';

/** docs/api/tokens.md#wallet-transfers */
export const walletTokenTransfersRoute: RouteModule = (app, dependencies) => {
  const { parameters, reads } = dependencies;
  defineListRoute(app, dependencies, {
    path: '/api/v2.2/{address}/erc20/transfers',
    operationId: 'getWalletTokenTransfers',
    tags: ['Wallets'],
    summary: 'List ERC-20 transfers by wallet',
    description:
      'Transfers sent or received by a wallet, by block number, newest first by default. Use `cursor` for the next page; new rows never shift pages.',
    params: z.object({ address: parameters.address }),
    query: querySchema(
      {
        chain: parameters.chain,
        ...parameters.blockBounds,
        limit: parameters.limit,
        order: parameters.order,
        cursor: parameters.cursor,
        disable_total: booleanParameter({
          default: true,
          description: 'false returns the total number of rows, counted up to 10,000.',
        }),
      },
      { contract_addresses: parameters.addresses },
    ),
    response: { description: 'A page of ERC-20 transfers', schema: walletTokenTransfersSchema },
    datasets: [erc20Transfers.name],
    cursorName: 'wallet-token-transfers',
    filter: z.object({
      address: z.string(),
      chain: z.string().default('eth'),
      contract_addresses: z.array(z.string()).readonly().nullable().default(null),
      ...blockBoundsSchema,
    }),
    filterOf: ({ address, chain, contract_addresses, ...given }) => ({
      ...{ address, chain: chain?.key, contract_addresses },
      ...givenBlockBounds(given),
    }),
    // The last row of a page, and the run's length if the first request counted it.
    position: z.object({ block: z.int(), transaction: z.int(), log: z.int(), count: z.int().nullable() }),
    firstPage: 0,
    read: async ({ chain, filter, order, limit, position, upperBound, given }) => {
      const list = await getWalletTokenTransfers(reads, chain, {
        address: filter.address as Address,
        ...{ order, limit, tokens: filter.contract_addresses as readonly Address[] | null },
        ...boundsOfRows(filter),
        pinnedBlock: upperBound,
        after: position && {
          blockNumber: position.block,
          transactionIndex: position.transaction,
          logIndex: position.log,
        },
        count: position === null && given.disable_total === false,
      });
      const counted = position === null ? list.count : position.count;
      const last = list.hasNext ? list.transfers.at(-1) : undefined;
      const next = last && {
        position: {
          ...{ block: last.block_number, transaction: last.transaction_index, log: last.log_index },
          count: counted,
        },
        upperBound: upperBound ?? list.newestBlock ?? last.block_number,
      };
      return { ...list, counted, next };
    },
    present: (list, envelope, page) => ({
      total: totalOf(page, list),
      ...envelope,
      indexed: showIndexed(list.indexed),
      result: showTransfers(page.filter.address as Address, list),
    }),
  });
};

/** Exact on the last page; before it the first count. Null while blocks are missing. */
function totalOf(
  page: Parameters<typeof totalOfRun>[0],
  { indexed, transfers, hasNext, counted }: WalletTransfersPage & { readonly counted: number | null },
): number | null {
  if (!indexed.complete) return null;
  const known = totalOfRun(page, { rows: transfers.length, isLast: !hasNext });
  if (known !== null) return known;
  return counted !== null && (page.cutTo !== null || counted > (page.page + 1) * page.limit) ? counted : null;
}
