import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type RouteModule, routesFor, wire, withServices } from '@chainstead/http';
import { committedBlock, type NodeReadQueue, StateUnavailableError } from '@chainstead/node-reads/requests';
import { readBuilt } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { Erc20Services, WalletServices } from '../routes.ts';
import { type Allowances, allowancesKind } from './allowances.ts';
import { erc20Approvals } from './dataset.ts';
import { erc20WalletApprovals } from './wallet-approvals.ts';
import { type WalletApproval, walletApprovalsPage } from './wallet-approvals-page.ts';
import { approvalView, type PresentApproval } from './wallet-approvals-response.ts';

type Services = WalletServices & Pick<Erc20Services, 'nodeReads' | 'projections' | 'readPrices'>;

const { text } = wire;

/** docs/api/wallets.md#wallet-approvals. Calls return the amounts, events what to read. */
const walletApprovalsRoute = routesFor<Services>().defineListRoute({
  path: '/api/v2.2/wallets/{address}/approvals',
  operationId: 'getWalletApprovals',
  tag: 'Wallets',
  summary: 'List ERC-20 approvals by wallet',
  description:
    'Current ERC-20 allowances of a wallet, newest approval first. Revoked and used up approvals are omitted, so a page may be short.',
  params: ['address'],
  query: ['chain', 'limit'],
  name: 'WalletApprovals',
  response: 'A page of approvals',
  datasets: [erc20Approvals.name],
  position: z.object({
    blockNumber: z.int(),
    transactionIndex: z.int(),
    logIndex: z.int(),
    token: z.custom<Address>(),
    spender: z.custom<Address>(),
  }),
  firstPage: 1,
  async read({ chain, address: wallet, query, requester, services, ...request }) {
    const { projections, nodeReads, onDemandBackfill, readPrices } = services;
    await projections.keep(chain, { dataset: erc20Approvals, state: erc20WalletApprovals }, wallet);
    const list = await readBuilt(request, async (from) => {
      const page = await walletApprovalsPage(chain, { ...query, wallet }).read(from);
      return { ...page, ...page.coverage };
    });
    const present = await readAllowances(nodeReads, request.reads, chain, wallet, list.rows);
    if (!list.isCovered) await onDemandBackfill.requestWallet(request, chain, wallet, requester);
    const tokens = list.rows.map(({ token }) => token);
    const block = list.indexed.toBlock;
    const prices = block === null ? new Map() : await readPrices(request, chain, tokens, block);
    // Without those that are used up.
    return { ...list, rows: present.filter(({ allowance }) => allowance !== '0'), prices };
  },
  view: approvalView,
  row: (approval, related) => [approval, related],
  fields: ({ page, page_size, indexed, result }) => ({
    ...{ page, page_size },
    limit: wire.wire(z.int().min(1))('Same as page_size', 'pageSize'),
    cursor: text.orNull('Cursor of the next page. null on the last page. Earlier pages may be short', 'cursor'),
    ...{ indexed, result },
  }),
});

export function createWalletApprovalsRoute(services: Services): RouteModule {
  return withServices(services, [walletApprovalsRoute]);
}

/** Milliseconds. Only limits the cache: a result for one block stays valid. */
const ANSWER_AGE_MS = 60_000;

/** At the newest block. Null for amounts that tokens don't return in time. */
async function readAllowances(
  nodeReads: NodeReadQueue,
  database: ReadDatabase,
  chain: Chain,
  wallet: Address,
  approvals: readonly WalletApproval[],
): Promise<PresentApproval[]> {
  const committed = approvals.length === 0 ? null : await committedBlock(database, chain);
  let read: Allowances | null = null;
  if (committed !== null)
    try {
      const block = { number: committed.number, hash: committed.hash };
      const pairs = approvals.map(({ token, spender }) => ({ token, spender }));
      const question = { block, wallet, approvals: pairs };
      read = await nodeReads.request(chain, allowancesKind, question, { maxAgeMs: ANSWER_AGE_MS });
    } catch (error) {
      // The events are shown instead.
      if (!(error instanceof StateUnavailableError)) throw error;
    }
  return approvals.map((approval, index) => ({
    approval,
    allowance: read?.allowances[index] ?? null,
    balance: read?.balances[index] ?? null,
  }));
}
