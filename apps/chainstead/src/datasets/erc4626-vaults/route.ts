import type { Address } from '@chainstead/core';
import type { RowOf } from '@chainstead/db/packed-rows';
import { rowsOf } from '@chainstead/db/rows-of';
import {
  blockBoundsSchema,
  boundsOfRows,
  defineListRoute,
  givenBlockBounds,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { type AccountRows, type AccountRowsPage, getAccountRows } from '../manifest/account-rows.ts';
import { walletVaults as endpoint } from './endpoint.ts';
import { erc4626Vaults } from './schema.ts';

const ROWS = rowsOf(erc4626Vaults, ['account_key', 'chain_id', 'account', 'is_receiver']);

type Row = RowOf<typeof ROWS>;

export const erc4626VaultsRows: AccountRows<Row> = { dataset: endpoint.dataset, table: 'erc4626_vaults', rows: ROWS };

const rowSchema = z.object({
  vault_address: z.string(),
  kind: z.enum(['deposit', 'withdraw']),
  sender: z.string().openapi({ description: 'The caller of the vault' }),
  owner: z.string().openapi({ description: 'The owner of the shares' }),
  receiver: z.string().openapi({ description: 'The receiver of the assets. For a deposit, the owner' }),
  assets: z.string().openapi({ description: 'Base units of the asset' }),
  shares: z.string().openapi({ description: 'Base units of the vault token' }),
  block_number: z.string(),
  block_timestamp: z.string(),
  transaction_hash: z.string(),
  log_index: z.int(),
});

const pageSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(rowSchema),
  })
  .openapi('WalletVaults');

const erc4626VaultsRoute: RouteModule = (app, dependencies) => {
  const { parameters, reads } = dependencies;
  defineListRoute(app, dependencies, {
    path: endpoint.path,
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    tags: ['Wallets'],
    description:
      'Deposits and withdrawals with the wallet as owner or receiver, by block number, newest first by default. A wallet that is only the sender has no row. Chainstead extension: the hosted API has no such route.',
    params: z.object({ address: parameters.address }),
    query: querySchema({
      chain: parameters.chain,
      ...parameters.blockBounds,
      limit: parameters.limit,
      order: parameters.order,
      cursor: parameters.cursor,
    }),
    response: { description: 'A page of vault deposits and withdrawals', schema: pageSchema },
    datasets: [endpoint.dataset],
    cursorName: 'wallet-vaults',
    filter: z.object({ address: z.string(), chain: z.string().default('eth'), ...blockBoundsSchema }),
    filterOf: ({ address, chain, ...given }) => ({ address, chain: chain?.key, ...givenBlockBounds(given) }),
    position: z.object({ block_number: z.int(), transaction_index: z.int(), log_index: z.int() }),
    firstPage: 0,
    read: ({ chain, filter, order, limit, position, upperBound }) =>
      getAccountRows(reads, chain, erc4626VaultsRows, {
        account: filter.address as Address,
        ...{ order, limit, after: position },
        ...boundsOfRows(filter),
        pinnedBlock: upperBound,
      }),
    present: ({ indexed, rows }, envelope) => ({
      ...envelope,
      indexed: showIndexed(indexed),
      result: rows.map(showRow),
    }),
  });
};

export const routes: readonly RouteModule[] = [erc4626VaultsRoute];

function showRow(row: AccountRowsPage<Row>['rows'][number]): z.infer<typeof rowSchema> {
  return {
    vault_address: row.vault,
    kind: row.is_deposit ? 'deposit' : 'withdraw',
    sender: row.sender,
    owner: row.owner,
    receiver: row.receiver,
    assets: row.assets,
    shares: row.shares,
    block_number: String(row.block_number),
    block_timestamp: row.block.block_timestamp,
    transaction_hash: row.transaction_hash,
    log_index: row.log_index,
  };
}
