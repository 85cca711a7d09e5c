import { showIndexed } from '@chainstead/answers';
import { type ApiDependencies, errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { COUNTED_MS, getKnownHolders } from './get-known-holders.ts';
import { HOLDERS_COUNTED } from './holder-questions.ts';
import type { TokenHoldersOptions } from './token-holders-options.ts';
import { HOLDERS_PENDING, holdersPendingSchema, showHolders, tokenHoldersSchema } from './token-holders-response.ts';

/**
 * `GET /api/v2.2/erc20/{tokenAddress}/holders`: how a token is held (docs/provider-contract.md#token-holders). Counted by a worker, and kept for
 * five minutes. Meanwhile an answer is one statement.
 */
export function createTokenHoldersRoute(options: TokenHoldersOptions): RouteModule {
  const { questions, kept, walletHistory, waitMs } = options;
  return (app, dependencies) => {
    const { chains, database, logger } = dependencies;
    app.openapi(routeOf(dependencies), async (c) => {
      const chain = indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN, erc20Transfers.name);
      const token = c.req.valid('param').tokenAddress;
      const ends = performance.now() + waitMs;
      let found = await getKnownHolders(database, chain, token);
      let isKept = found.isBuilt && found.isAskNoted;
      if (!isKept) {
        const of = { dataset: erc20Transfers, state: erc20TokenHolders };
        isKept = (await kept.keep(chain, of, token, waitMs)) === 'built';
        found = await getKnownHolders(database, chain, token);
      }
      if (!found.isCovered)
        await walletHistory.requestContract({ database, logger }, chain, token, c.get('principal')?.id ?? 'open');
      const patience = { waitMs: Math.max(0, ends - performance.now()), maxAgeMs: COUNTED_MS };
      const counts = isKept
        ? (found.counts ?? (await questions.ask(chain, HOLDERS_COUNTED, { token }, patience)))
        : null;
      if (counts === null) return c.json({ message: HOLDERS_PENDING }, 202);
      const { indexed } = found;
      return c.json(
        {
          ...showHolders(counts),
          indexed: showIndexed({ ...indexed, complete: indexed.complete && counts.isSound }),
        },
        200,
      );
    });
  };
}

const DEFAULT_CHAIN = 'eth';

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/erc20/{tokenAddress}/holders',
    operationId: 'getTokenHolders',
    tags: ['Token'],
    summary: 'How a token is held',
    description:
      'How many accounts hold it, what the largest hold, how many came and went, and of what size they are. Counted in the background: 202 until that is done.',
    request: {
      params: z.object({ tokenAddress: parameters.address }),
      query: querySchema({ chain: parameters.chain }),
    },
    responses: {
      200: { description: 'The figures', content: { 'application/json': { schema: tokenHoldersSchema } } },
      202: { description: 'They are being counted', content: { 'application/json': { schema: holdersPendingSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
