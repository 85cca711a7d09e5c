import { indexedHeaders, type WalletHistory } from '@chainstead/answers';
import { ZERO_ADDRESS } from '@chainstead/core';
import {
  type ApiDependencies,
  booleanParameter,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import type { StateQuestions } from '@chainstead/state';
import type { KeptSubjects } from '@chainstead/sync';
import { createRoute, z } from '@hono/zod-openapi';
import { erc20Transfers } from '../transfers/dataset.ts';
import { asProven, proveToldBalances } from './prove-told-balances.ts';
import { tellWalletBalances } from './tell-wallet-balances.ts';
import { showBalance, walletBalancesSchema } from './wallet-balances-response.ts';

export interface WalletBalancesOptions {
  readonly questions: StateQuestions;
  readonly kept: KeptSubjects;
  readonly walletHistory: Pick<WalletHistory, 'requestWallet'>;
  /** How long a request waits for what it has caused (`INDEX_WAIT_MS`). Milliseconds. */
  readonly waitMs: number;
  /** So old a reading of a token may be whose transfers don't tell its balances (`BALANCE_MAX_AGE_MS`). Milliseconds. */
  readonly liveMaxAgeMs: number;
}

/** The provider's maximum: there is no cursor. */
const TOKENS_MAX = 2_000;

/**
 * `GET /api/v2.2/{address}/erc20`: what a wallet holds of tokens, as their contracts say (docs/provider-contract.md#token-balances). The first request
 * has contracts asked, and where blocks are missing of the wallet's history, those read.
 */
export function createWalletBalancesRoute(options: WalletBalancesOptions): RouteModule {
  const { questions, kept, walletHistory, waitMs, liveMaxAgeMs } = options;
  return (app, dependencies) => {
    const { chains, database, logger } = dependencies;
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const wallet = c.req.valid('param').address;
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN, erc20Transfers.name);
      const told = await tellWalletBalances({ database, questions, kept, logger, waitMs }, chain, {
        wallet,
        tokens: query.token_addresses ?? null,
        excludeSpam: query.exclude_spam ?? true,
        verifiedOnly: false,
        toBlock: query.to_block ?? null,
        limit: TOKENS_MAX,
        order: null,
        liveMaxAgeMs,
      });
      if (!told.isCovered && wallet !== ZERO_ADDRESS)
        await walletHistory.requestWallet({ database, logger }, chain, wallet, c.get('principal')?.id ?? 'open');
      const proofs =
        query.proof === true
          ? await proveToldBalances({ database, questions, logger, waitMs }, chain, wallet, told)
          : null;
      const shown = proofs === null ? told.balances : asProven(told.balances, proofs);
      const isDoubted = shown.some(({ token }) => proofs?.get(token)?.reason === 'contradicted');
      const complete = told.isComplete && !told.hasNext && !isDoubted;
      return c.json(
        shown.map((one) => showBalance(one, proofs?.get(one.token))),
        200,
        indexedHeaders({ ...told.indexed, complete }),
      );
    });
  };
}

const DEFAULT_CHAIN = 'eth';

function routeOf({ parameters }: ApiDependencies) {
  const query = querySchema(
    {
      chain: parameters.chain,
      to_block: parameters.toBlock.openapi({
        description:
          'Balances after this block; below what is indexed it takes an archive node. Default: the newest one.',
      }),
      exclude_spam: booleanParameter({ default: true, description: 'Leaves tokens out that are possible spam.' }),
      proof: booleanParameter({
        default: false,
        description: "Compares the first 50 balances with the chain's state, and says of each whether it is proven.",
      }),
    },
    { token_addresses: parameters.addresses },
  );
  return createRoute({
    method: 'get',
    path: '/api/v2.2/{address}/erc20',
    operationId: 'getWalletTokenBalances',
    tags: ['Token'],
    summary: "A wallet's ERC-20 balances",
    description:
      'Balances above zero, newest movement first, 2,000 at most. A balance is what the contract said and what moved since, or it is not shown; the headers say whether something may be missing.',
    request: { params: z.object({ address: parameters.address }), query },
    responses: {
      200: {
        description: 'The balances',
        content: { 'application/json': { schema: walletBalancesSchema } },
      },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
