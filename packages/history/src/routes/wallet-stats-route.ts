import { readUntorn, type WalletHistory } from '@chainstead/answers';
import type { Address, Clock } from '@chainstead/core';
import { type ApiDependencies, errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { countHeldNfts } from '@chainstead/nft';
import { StateUnavailableError } from '@chainstead/state';
import type { KeptSubjects } from '@chainstead/sync';
import type { AskedWallets } from '@chainstead/transactions';
import { createRoute, z } from '@hono/zod-openapi';
import type { HistoryQuery } from '../page/history-query.ts';
import { LEG_DATASETS } from '../page/places-statement.ts';
import { readPlaces } from '../page/read-places.ts';
import { createWalletCounter } from '../stats/wallet-counter.ts';
import { showWalletStats, walletStatsSchema } from '../stats/wallet-stats-response.ts';

export interface WalletStatsOptions {
  readonly kept: KeptSubjects;
  /** How long a request waits until very much is counted. Milliseconds. */
  readonly waitMs: number;
  readonly clock: Clock;
  /** Where chains keep only the transactions of wallets that are asked for. */
  readonly askedWallets: AskedWallets;
  readonly walletHistory: Pick<WalletHistory, 'requestWallet'>;
}

/**
 * `GET /api/v2.2/wallets/{address}/stats`: how much a wallet has and did (docs/provider-contract.md#wallet-statistics). Counted exactly, of what is
 * indexed; 503 while very much is counted for the first time.
 */
export function createWalletStatsRoute({
  kept,
  waitMs,
  clock,
  askedWallets,
  walletHistory,
}: WalletStatsOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database, logger, reads } = dependencies;
    const counting = { database, kept, waitMs, clock };
    const counter = createWalletCounter(counting);
    app.openapi(routeOf(dependencies), async (c) => {
      const wallet = c.req.valid('param').address as Address;
      const chain = indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN, ...LEG_DATASETS);
      const requester = c.get('principal')?.id ?? 'open';
      // Before what may fail: whoever asks again finds more.
      await askedWallets.ask({ database, logger }, chain, wallet, requester);
      const { indexed } = await readUntorn(() => readPlaces(reads, chain, { ...NO_ROWS, wallet }));
      if (!indexed.complete) await walletHistory.requestWallet({ database, logger }, chain, wallet, requester);
      const [held, counts] = await Promise.all([countHeldNfts(counting, chain, wallet), counter.count(chain, wallet)]);
      if (held === null) throw new StateUnavailableError(`what the wallet holds on ${chain.key} is being counted`);
      return c.json(showWalletStats(held, counts, indexed), 200);
    });
  };
}

const DEFAULT_CHAIN = 'eth';
const NO_ROWS = {
  ...{ order: 'ASC' as const, limit: 0, after: null, pinnedBlock: null },
  ...{ fromBlock: null, toBlock: null, fromDate: null, toDate: null },
} satisfies Omit<HistoryQuery, 'wallet'>;

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/{address}/stats',
    operationId: 'getWalletStats',
    tags: ['Wallets'],
    summary: 'How much a wallet has and did',
    description:
      'NFTs that it holds, transactions and transfers, counted exactly of what is indexed; 503 while very much is counted for the first time.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({ chain: parameters.chain }),
    },
    responses: {
      200: { description: 'The counts', content: { 'application/json': { schema: walletStatsSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
