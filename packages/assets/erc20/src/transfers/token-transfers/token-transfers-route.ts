import { DIRECTION } from '@chainstead/db/column-types';
import { addressParameter } from '@chainstead/http';
import { LOG_ORDER } from '@chainstead/pages';
import { defineListRoute } from '../../routes.ts';
import { erc20Transfers } from '../dataset.ts';
import { BY_CONTRACT } from '../page/by-contract.ts';
import { transferView } from '../page/transfer-response.ts';
import { tokenTransfersPage } from './token-transfers-page.ts';

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
