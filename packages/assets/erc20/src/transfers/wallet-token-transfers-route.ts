import { routesFor } from '@chainstead/http';
import { LOG_ORDER } from '@chainstead/pages';
import { erc20Transfers } from './dataset.ts';
import { transferView } from './page/transfer-response.ts';
import { readWalletTransfers } from './wallet-transfers-page.ts';

const { defineListRoute } = routesFor<unknown>();

/** docs/api/tokens.md#wallet-transfers */
export const walletTokenTransfersRoute = defineListRoute({
  path: '/api/v2.2/{address}/erc20/transfers',
  operationId: 'getWalletTokenTransfers',
  tag: 'Wallets',
  summary: 'List ERC-20 transfers by wallet',
  description:
    'Transfers sent or received by a wallet, by block number, newest first by default. Use `cursor` for the next page; new rows never shift pages.',
  params: ['address'],
  query: ['chain', 'blockBounds', 'limit', 'order', { contract_addresses: 'addresses' }],
  hasTotal: true,
  name: 'Erc20Transfers',
  response: 'A page of ERC-20 transfers',
  datasets: [erc20Transfers.name],
  position: LOG_ORDER.position,
  firstPage: 0,
  read: ({ reads, chain, address, contract_addresses: tokens = null, query, counts }) =>
    readWalletTransfers(reads, chain, { ...query, address, tokens, count: counts }),
  view: transferView,
  row: (row, list, { address }) => [{ ...row, account: address }, list],
});
