import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { defineListRoute, querySchema, type RouteModule } from '@chainstead/http';
import { committedBlock, type NodeReadQueue, StateUnavailableError } from '@chainstead/node-reads/requests';
import { readBuilt, showIndexed } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { z } from '@hono/zod-openapi';
import type { ReadTokenPrices } from '../token-values/token-prices.ts';
import { type Allowances, allowancesKind } from './allowances.ts';
import { erc20Approvals } from './dataset.ts';
import { erc20WalletApprovals } from './wallet-approvals.ts';
import { type WalletApproval, walletApprovalsPage } from './wallet-approvals-page.ts';
import { type PresentApproval, showApprovals, walletApprovalsSchema } from './wallet-approvals-response.ts';

interface WalletApprovalsOptions {
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
  readonly nodeReads: NodeReadQueue;
  readonly readPrices: ReadTokenPrices;
}

/** docs/api/wallets.md#wallet-approvals. Calls return the amounts, events what to read. */
export function createWalletApprovalsRoute(options: WalletApprovalsOptions): RouteModule {
  const { projections, onDemandBackfill, readPrices } = options;
  return (app, dependencies) => {
    const { database, logger, parameters, reads } = dependencies;
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/wallets/{address}/approvals',
      operationId: 'getWalletApprovals',
      tags: ['Wallets'],
      summary: 'List ERC-20 approvals by wallet',
      description:
        'Current ERC-20 allowances of a wallet, newest approval first. Revoked and used up approvals are omitted, so a page may be short.',
      params: z.object({ address: parameters.address }),
      query: querySchema({ chain: parameters.chain, limit: parameters.limit, cursor: parameters.cursor }),
      response: { description: 'A page of approvals', schema: walletApprovalsSchema },
      datasets: [erc20Approvals.name],
      cursorName: 'wallet-approvals',
      filter: z.object({ address: z.string(), chain: z.string().default('eth') }),
      filterOf: ({ address, chain }) => ({ address, chain: chain?.key }),
      position: z.object({
        blockNumber: z.int(),
        transactionIndex: z.int(),
        logIndex: z.int(),
        token: z.string(),
        spender: z.string(),
      }),
      firstPage: 1,
      read: async ({ chain, filter, limit, position, upperBound, requester }) => {
        const wallet = parseAddress(filter.address);
        await projections.keep(chain, { dataset: erc20Approvals, state: erc20WalletApprovals }, wallet);
        const after = position && {
          ...position,
          token: position.token as Address,
          spender: position.spender as Address,
        };
        const reading = { wallet, limit, after, pinnedBlock: upperBound };
        const list = await readBuilt(dependencies, async (from) => {
          const page = await walletApprovalsPage(chain, reading).read(from);
          return { ...page, ...page.coverage };
        });
        const { rows, indexed } = list;
        const present = await readAllowances(options, reads, chain, wallet, rows);
        if (!list.isCovered) await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
        const tokens = rows.map(({ token }) => token);
        const block = indexed.toBlock;
        const prices = block === null ? new Map() : await readPrices({ database, logger }, chain, tokens, block);
        return { ...list, present, prices };
      },
      present: (list, { page, page_size, cursor }) => ({
        ...{ page, page_size, limit: page_size, cursor },
        indexed: showIndexed(list.indexed),
        result: showApprovals(list),
      }),
    });
  };
}

/** Milliseconds. Only limits the cache: a result for one block stays valid. */
const ANSWER_AGE_MS = 60_000;

/** At the newest block. Null for amounts that tokens don't return in time. */
async function readAllowances(
  { nodeReads }: WalletApprovalsOptions,
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
