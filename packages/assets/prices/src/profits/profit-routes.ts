import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  type ApiDependencies,
  addressesParameter,
  type RouteModule,
  routesFor,
  textParameter,
  withServices,
} from '@chainstead/http';
import { EVERY_SWAP, nativeTokenOf, shownToken } from '@chainstead/markets/requests';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import { requestTraderState, type SyncState, type TraderBackfill } from '@chainstead/pages';
import { requestFeedReadings } from '@chainstead/tokens/price-feeds';
import { readTokenBook } from '@chainstead/tokens/token-book';
import { profitabilityView, summaryView, topGainersView } from './profit-response.ts';
import { type ProfitLimits, sumTopGainers, sumWalletProfits } from './summed-profits.ts';
import type { WalletProfits, WalletProfitsQuery } from './wallet-profits.ts';

interface ProfitServices {
  readonly onDemandBackfill: TraderBackfill;
  readonly nodeReads: NodeReadQueue;
  readonly limits?: ProfitLimits;
}

export function createProfitRoutes(services: ProfitServices): RouteModule {
  return withServices(services, [walletProfitabilityRoute, walletSummaryRoute, topGainersRoute]);
}

const { defineRoute } = routesFor<ProfitServices>();
const TOKENS_MAX = 25;
const WALLET_DAYS = ['all', '7', '30', '60', '90'] as const;

const OF_PROFITS =
  'Returns 400 with `SWAPS_<CHAIN>=off`. `indexed.complete` is false if swaps of the chain are missing, or a trade has no known value.';

const walletProfitabilityRoute = defineRoute({
  path: '/api/v2.2/wallets/{address}/profitability',
  operationId: 'getWalletProfitability',
  tag: 'Wallets',
  summary: 'Get the profit of a wallet by token',
  description: `Realized profit of the tokens that a wallet traded, at the average cost over all pools. ${OF_PROFITS}`,
  params: ['address'],
  query: [
    { days: daysParameter(WALLET_DAYS) },
    'chain',
    {
      token_addresses: addressesParameter()
        .refine((given) => given === undefined || given.length <= TOKENS_MAX, {
          error: `at most ${TOKENS_MAX} items`,
        })
        .openapi({
          maxItems: TOKENS_MAX,
          description: `Returns only these tokens, at most ${TOKENS_MAX}. Default: all.`,
        }),
    },
  ],
  datasets: [EVERY_SWAP],
  response: { description: 'Profits by token', schema: profitabilityView.schema },
  errors: [404],
  async answer({ address: wallet, days = null, token_addresses: tokens = [], ...request }) {
    const query = { wallet, tokens: tokens.length === 0 ? null : tokens, days };
    const profits = await readProfits(request, query);
    const { reads, chain } = request;
    const tokenOf = await readTokenBook(reads, chain, profits.sums.keys(), nativeTokenOf(chain));
    return profitabilityView.show(profits, await stateOf(request, wallet, profits), tokenOf);
  },
});

const walletSummaryRoute = defineRoute({
  path: '/api/v2.2/wallets/{address}/profitability/summary',
  operationId: 'getWalletProfitabilitySummary',
  tag: 'Wallets',
  summary: 'Get the total profit of a wallet',
  description: `Realized profit of a wallet over all tokens that it traded. ${OF_PROFITS}`,
  params: ['address'],
  query: [{ days: daysParameter(WALLET_DAYS) }, 'chain'],
  datasets: [EVERY_SWAP],
  response: { description: 'Total profit', schema: summaryView.schema },
  errors: [404],
  async answer({ address: wallet, days = null, ...request }) {
    const profits = await readProfits(request, { wallet, tokens: null, days });
    return summaryView.show(profits, await stateOf(request, wallet, profits));
  },
});

const topGainersRoute = defineRoute({
  path: '/api/v2.2/erc20/{address}/top-gainers',
  operationId: 'getTopProfitableWalletPerToken',
  tag: 'Tokens',
  summary: 'List the most profitable wallets of a token',
  description: `Up to 100 wallets by realized profit in a token, from its newest 100,000 trades. ${OF_PROFITS}`,
  params: ['address'],
  query: [{ days: daysParameter(['all', '7', '30']) }, 'chain'],
  datasets: [EVERY_SWAP],
  response: { description: 'Profitable wallets', schema: topGainersView.schema },
  errors: [404],
  async answer({ address, chain, days = null, reads, services }) {
    const token = shownToken(address, chain);
    const profits = await sumTopGainers({ ...services, reads }, chain, { token, days });
    const tokenOf = await readTokenBook(reads, chain, [token], nativeTokenOf(chain));
    return topGainersView.show(profits, tokenOf(token));
  },
});

type ProfitRequest = Pick<ApiDependencies, 'reads' | 'database' | 'logger'> & {
  readonly chain: Chain;
  readonly requester: string;
  readonly services: ProfitServices;
};

/** First reads feeds for trades older than the indexed blocks. */
async function readProfits(
  { reads, database, logger, chain, services }: ProfitRequest,
  query: WalletProfitsQuery,
): Promise<WalletProfits> {
  const { nodeReads } = services;
  const found = await sumWalletProfits({ ...services, reads }, chain, query);
  if (found.unvalued === 0) return found;
  const isRead = await requestFeedReadings({ database, nodeReads, logger }, chain, found.unvaluedBlocks);
  return isRead ? sumWalletProfits({ ...services, reads: database }, chain, query) : found;
}

function stateOf(
  { database, logger, chain, requester, services: { onDemandBackfill } }: ProfitRequest,
  wallet: Address,
  { known }: Pick<WalletProfits, 'known'>,
): Promise<SyncState> {
  const request = { account: wallet, requester, indexed: known };
  return requestTraderState(onDemandBackfill, { database, logger }, chain, request);
}

/** Days; null: all trades. Default: all. */
function daysParameter(allowed: readonly ['all', ...string[]]) {
  const phrase = `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`;
  const daysOf = (text: string) => (text === 'all' ? null : allowed.includes(text) ? Number(text) : undefined);
  return textParameter(phrase, daysOf)
    .optional()
    .openapi({
      ...{ type: 'string', enum: [...allowed], default: 'all' },
      description: 'Counts only trades of this number of days before the newest indexed block.',
    });
}
