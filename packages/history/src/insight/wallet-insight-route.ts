import type { WalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address, Clock } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import {
  type ApiDependencies,
  booleanParameter,
  errorResponses,
  indexedChainsOf,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { type StateQuestions, StateUnavailableError } from '@chainstead/state';
import type { AskedWallets } from '@chainstead/transactions';
import { createRoute, z } from '@hono/zod-openapi';
import type { HistoryQuery } from '../page/history-query.ts';
import { LEG_DATASETS } from '../page/places-statement.ts';
import { readPlaces } from '../page/read-places.ts';
import { INSIGHT_COUNTED } from './insight-reader.ts';
import { type CountedChain, showWalletInsight, walletInsightSchema } from './wallet-insight-response.ts';

export interface WalletInsightOptions {
  /** Where chains keep only the transactions of wallets that are asked for. */
  readonly askedWallets: AskedWallets;
  readonly walletHistory: Pick<WalletHistory, 'requestWallet'>;
  /** The chains that are indexed here: those of which none is asked for by name. */
  readonly served: readonly Chain[];
  readonly questions: StateQuestions;
  /** How long a request waits for what is counted because of it. Milliseconds. */
  readonly waitMs: number;
  readonly clock: Clock;
}

/** So long the same figures are served. Milliseconds. */
const COUNTED_MS = 60_000;

/**
 * `GET /api/v2.2/wallets/{address}/insight`: what a wallet's activity adds up to (docs/provider-contract.md#wallet-insight). Counted by a worker, and
 * kept for a minute; 503 while that takes longer than a request waits.
 */
export function createWalletInsightRoute({
  served,
  questions,
  waitMs,
  clock,
  askedWallets,
  walletHistory,
}: WalletInsightOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database, logger, reads } = dependencies;
    const count = async (chain: Chain, wallet: Address, requester: string): Promise<CountedChain> => {
      // Before what may fail: whoever asks again finds more.
      await askedWallets.ask({ database, logger }, chain, wallet, requester);
      const isComplete = await isHistoryComplete(reads, chain, wallet);
      if (!isComplete) await walletHistory.requestWallet({ database, logger }, chain, wallet, requester);
      const answer = await questions.ask(chain, INSIGHT_COUNTED, { wallet }, { waitMs, maxAgeMs: COUNTED_MS });
      if (answer === null) throw new StateUnavailableError(`what the wallet did on ${chain.key} is being counted`);
      return { chain, counts: answer.counts, toBlock: answer.to, isComplete };
    };
    app.openapi(routeOf(dependencies), async (c) => {
      const address = c.req.valid('param').address as Address;
      const { chains: asked, includeChainBreakdown: withBreakdown = false } = c.req.valid('query');
      const wanted =
        asked === undefined
          ? served.toSorted((one, other) => one.id - other.id)
          : indexedChainsOf(chains, asked, ...LEG_DATASETS);
      const requester = c.get('principal')?.id ?? 'open';
      const counted = await Promise.all(wanted.map((chain) => count(chain, address, requester)));
      return c.json(showWalletInsight(address, counted, { now: clock.now() / 1_000, withBreakdown }), 200);
    });
  };
}

async function isHistoryComplete(database: ReadDatabase, chain: Chain, wallet: Address): Promise<boolean> {
  const { indexed } = await readPlaces(database, chain, { ...NO_ROWS, wallet });
  return indexed.complete;
}

const NO_ROWS = {
  ...{ order: 'ASC' as const, limit: 0, after: null, pinnedBlock: null },
  ...{ fromBlock: null, toBlock: null, fromDate: null, toDate: null },
} satisfies Omit<HistoryQuery, 'wallet'>;

const CHAINS_MAX = 100;

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/{address}/insight',
    operationId: 'getWalletInsight',
    tags: ['Wallets'],
    summary: "What a wallet's activity adds up to",
    description:
      'Over the chains that are asked for, or all that are indexed here. Counted in the background and kept for a minute: 503 until it is done. Amounts in dollars are null where prices of the coin are not known.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema(
        {
          includeChainBreakdown: booleanParameter({
            default: false,
            description: 'Adds the same figures of each chain, with amounts in its coin.',
          }),
        },
        {
          chains: z
            .array(z.string())
            .max(CHAINS_MAX, { error: `at most ${CHAINS_MAX} items` })
            .optional()
            .openapi({
              type: 'array',
              items: { type: 'string' },
              description: 'Default: all that are indexed here.',
              example: ['eth'],
            }),
        },
      ),
    },
    responses: {
      200: { description: 'The figures', content: { 'application/json': { schema: walletInsightSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
