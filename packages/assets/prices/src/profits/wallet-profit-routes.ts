import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type ApiDependencies, defineRoute, type RouteModule, textParameter } from '@chainstead/http';
import { EVERY_SWAP, nativeTokenOf } from '@chainstead/markets/requests';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import { requestTraderState, type SyncState, type TraderBackfill } from '@chainstead/pages';
import { requestFeedReadings } from '@chainstead/tokens/price-feeds';
import { readTokenBook } from '@chainstead/tokens/token-book';
import { profitabilitySchema, showProfitability, showSummary, summarySchema } from './profit-response.ts';
import { type ProfitLimits, sumWalletProfits } from './summed-profits.ts';
import type { WalletProfits, WalletProfitsQuery } from './wallet-profits.ts';

export interface WalletProfitOptions {
  readonly onDemandBackfill: TraderBackfill;
  readonly nodeReads: NodeReadQueue;
  readonly limits?: ProfitLimits;
}

export const createWalletProfitabilityRoute =
  (options: WalletProfitOptions): RouteModule =>
  (app, dependencies) => {
    const { parameters, reads } = dependencies;
    const tokens = parameters.addresses
      .refine((given) => given === undefined || given.length <= TOKENS_MAX, {
        error: `at most ${TOKENS_MAX} items`,
      })
      .openapi({
        maxItems: TOKENS_MAX,
        description: `Returns only these tokens, at most ${TOKENS_MAX}. Default: all.`,
      });
    defineRoute(app, dependencies, {
      path: '/api/v2.2/wallets/{address}/profitability',
      operationId: 'getWalletProfitability',
      tags: ['Wallets'],
      summary: 'Get the profit of a wallet by token',
      description: `Realized profit of the tokens that a wallet traded, at the average cost over all pools. ${OF_PROFITS}`,
      params: { address: parameters.address },
      query: { days: daysParameter(WALLET_DAYS), chain: parameters.chain },
      lists: { token_addresses: tokens },
      datasets: [EVERY_SWAP],
      response: { description: 'Profits by token', schema: profitabilitySchema },
      errors: [404],
      async answer({ address: wallet, chain, days = null, token_addresses: tokens = [], requester }) {
        const query = { wallet, tokens: tokens.length === 0 ? null : tokens, days };
        const profits = await readProfits(options, dependencies, chain, query);
        const tokenOf = await readTokenBook(reads, chain, profits.sums.keys(), nativeTokenOf(chain));
        const state = await stateOf(options, dependencies, chain, { ...query, ...profits, requester });
        return showProfitability(profits, state, tokenOf);
      },
    });
  };

export const createWalletSummaryRoute =
  (options: WalletProfitOptions): RouteModule =>
  (app, dependencies) => {
    const { parameters } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/wallets/{address}/profitability/summary',
      operationId: 'getWalletProfitabilitySummary',
      tags: ['Wallets'],
      summary: 'Get the total profit of a wallet',
      description: `Realized profit of a wallet over all tokens that it traded. ${OF_PROFITS}`,
      params: { address: parameters.address },
      query: { days: daysParameter(WALLET_DAYS), chain: parameters.chain },
      datasets: [EVERY_SWAP],
      response: { description: 'Total profit', schema: summarySchema },
      errors: [404],
      async answer({ address: wallet, chain, days = null, requester }) {
        const query = { wallet, tokens: null, days };
        const profits = await readProfits(options, dependencies, chain, query);
        const state = await stateOf(options, dependencies, chain, { ...query, ...profits, requester });
        return showSummary(profits, state);
      },
    });
  };

/** First reads feeds for trades older than the indexed blocks. */
async function readProfits(
  options: WalletProfitOptions,
  { reads, database, logger }: Pick<ApiDependencies, 'reads' | 'database' | 'logger'>,
  chain: Chain,
  query: WalletProfitsQuery,
): Promise<WalletProfits> {
  const { nodeReads } = options;
  const found = await sumWalletProfits({ ...options, reads }, chain, query);
  if (found.unvalued === 0) return found;
  const isRead = await requestFeedReadings({ database, nodeReads, logger }, chain, found.unvaluedBlocks);
  return isRead ? sumWalletProfits({ ...options, reads: database }, chain, query) : found;
}

function stateOf(
  { onDemandBackfill }: Pick<WalletProfitOptions, 'onDemandBackfill'>,
  { database, logger }: Pick<ApiDependencies, 'database' | 'logger'>,
  chain: Chain,
  { wallet, known, requester }: { wallet: Address; requester: string | null } & Pick<WalletProfits, 'known'>,
): Promise<SyncState> {
  const request = { account: wallet, requester, indexed: known };
  return requestTraderState(onDemandBackfill, { database, logger }, chain, request);
}

const WALLET_DAYS = ['all', '7', '30', '60', '90'] as const;
const TOKENS_MAX = 25;

export const OF_PROFITS =
  'Returns 400 with `SWAPS_<CHAIN>=off`. `indexed.complete` is false if swaps of the chain are missing, or a trade has no known value.';

/** Days; null: all trades. Default: all. */
export function daysParameter(allowed: readonly ['all', ...string[]]) {
  const phrase = `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`;
  const daysOf = (text: string) => (text === 'all' ? null : allowed.includes(text) ? Number(text) : undefined);
  return textParameter(phrase, daysOf)
    .optional()
    .openapi({
      ...{ type: 'string', enum: [...allowed], default: 'all' },
      description: 'Counts only trades of this number of days before the newest indexed block.',
    });
}
