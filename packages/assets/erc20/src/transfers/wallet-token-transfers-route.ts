import type { Address } from '@chainstead/core';
import {
  blockBoundsSchema,
  booleanParameter,
  chainQueryOf,
  defineListRoute,
  givenBlockBounds,
  querySchema,
  type RouteModule,
  totalOfRun,
} from '@chainstead/http';
import { indexedSchema, LOG_ORDER, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { erc20Transfers } from './dataset.ts';
import { showTransfer, transferSchema } from './page/transfer-response.ts';
import { readWalletTransfers, type WalletTransfersList } from './wallet-transfers-page.ts';

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
    position: z.object({ ...LOG_ORDER.fields, count: z.int().nullable() }),
    firstPage: 0,
    read: async (page) => {
      const { filter, position, given } = page;
      const list = await readWalletTransfers(reads, page.chain, {
        ...chainQueryOf(page),
        address: filter.address as Address,
        tokens: filter.contract_addresses as readonly Address[] | null,
        count: position === null && given.disable_total === false,
      });
      const counted = position === null ? list.count : position.count;
      const next = list.next && { ...list.next, position: { ...list.next.position, count: counted } };
      return { ...list, counted, next };
    },
    present: (list, envelope, page) => ({
      total: totalOf(page, list),
      ...envelope,
      indexed: showIndexed(list.indexed),
      result: list.rows.map((row) => showTransfer({ ...row, account: page.filter.address as Address }, list)),
    }),
  });
};

export const walletTokenTransfersSchema = z
  .object({
    total: z.int().nullable().openapi({ description: 'Total number of rows if known, otherwise null' }),
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(transferSchema),
  })
  .openapi('Erc20Transfers');

/** Exact on the last page; before it the first count. Null while blocks are missing. */
function totalOf(
  page: Parameters<typeof totalOfRun>[0],
  { indexed, rows, next, counted }: WalletTransfersList & { readonly counted: number | null },
): number | null {
  if (!indexed.complete) return null;
  const known = totalOfRun(page, { rows: rows.length, isLast: next === null });
  if (known !== null) return known;
  return counted !== null && (page.cutTo !== null || counted > (page.page + 1) * page.limit) ? counted : null;
}
