import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, sql, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { type RowByName, rowsOf } from '@chainstead/db/rows-of';
import { routesFor, view, wire } from '@chainstead/http';
import {
  type ChainQuery,
  chainPage,
  chainRange,
  LOG_COLUMNS_ORDER,
  type LogColumnsPosition,
  newestOfRun,
  type PageBlock,
} from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { erc4626Vaults } from './dataset.ts';
import { erc4626Vaults as table } from './schema.ts';

type VaultMove = Omit<RowByName<typeof table>, 'account' | 'account_key' | 'chain_id' | 'is_receiver'>;

const { integer, text } = wire;
const kind = wire.wire(z.enum(['deposit', 'withdraw']));

const vaultMoveView = view(
  null,
  (row: VaultMove, { block_timestamp }: PageBlock) => ({ ...row, block_timestamp }),
  {
    vault_address: text(({ vault }) => vault),
    kind: kind(({ is_deposit: isDeposit }) => (isDeposit ? 'deposit' : 'withdraw')),
    sender: text('The caller of the vault'),
    owner: text('The owner of the shares'),
    receiver: text('The receiver of the assets. For a deposit, the owner'),
    assets: text('Base units of the asset'),
    shares: text('Base units of the vault token'),
    block_number: text(({ block_number: number }) => String(number)),
    block_timestamp: text(),
    transaction_hash: text(),
    log_index: integer(),
  },
);

export const walletVaultsRoute = routesFor<unknown>().defineListRoute({
  path: '/api/v2.2/wallets/{address}/vaults',
  operationId: 'getWalletVaults',
  tag: 'Wallets',
  summary: 'List ERC-4626 deposits and withdrawals by wallet',
  description:
    'Deposits and withdrawals with the wallet as owner or receiver, by block number, newest first by default. A wallet that is only the sender has no row. Chainstead extension: the hosted API has no such route.',
  params: ['address'],
  query: ['chain', 'blockBounds', 'limit', 'order'],
  name: 'WalletVaults',
  response: 'A page of vault deposits and withdrawals',
  datasets: [erc4626Vaults.name],
  position: LOG_COLUMNS_ORDER.position,
  firstPage: 0,
  read: ({ reads, chain, address: account, query }) => walletVaultsPage(chain, { ...query, account }).read(reads),
  view: vaultMoveView,
  row: (row, { blockOf }) => [row, blockOf(row)],
});

export interface WalletVaultsQuery extends ChainQuery<LogColumnsPosition> {
  readonly account: Address;
}

/**
 * One range of the primary key per partition. The whole address is expected true: the planner
 * never sorts all rows of an account.
 */
export function walletVaultsPage(chain: Chain, query: WalletVaultsQuery) {
  const range = chainRange(chain, erc4626Vaults.name, query, LOG_COLUMNS_ORDER);
  const ofAccount = [
    sql`account_key = ${addressKey(query.account)}`,
    expectedTrue(sql`account = ${addressBytes(query.account)}`),
    sql`chain_id = ${chain.id}`,
  ];
  return chainPage({
    ...{ chain, query, range, order: LOG_COLUMNS_ORDER, rows: MOVES, related: {} },
    scan: sql`SELECT ${MOVES.columnsOf('move')} FROM erc4626_vaults AS move ${where([...ofAccount, ...range.scan])}
    ${LOG_COLUMNS_ORDER.by(query.order)} LIMIT ${query.limit + 1}`,
    newest: newestOfRun(query.order, [{ from: 'erc4626_vaults', of: ofAccount }]),
  });
}

const MOVES = rowsOf(table, ['account', 'account_key', 'chain_id', 'is_receiver']);
