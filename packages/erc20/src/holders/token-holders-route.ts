import {
  readSubject,
  type SubjectColumns,
  showIndexed,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
} from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import { type ApiDependencies, errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { HOLDERS_COUNTED } from './holder-questions.ts';
import { firstBlockOf } from './read-owners.ts';
import type { TokenHoldersOptions } from './token-holders-options.ts';
import { HOLDERS_PENDING, holdersPendingSchema, showHolders, tokenHoldersSchema } from './token-holders-response.ts';

/** So long the same figures are served. Milliseconds. */
const COUNTED_MS = 300_000;

/**
 * `GET /api/v2.2/erc20/{tokenAddress}/holders`: how a token is held (docs/provider-contract.md#token-holders). Counted by a worker, and kept for
 * five minutes.
 */
export function createTokenHoldersRoute(options: TokenHoldersOptions): RouteModule {
  const { questions, kept, walletHistory, waitMs } = options;
  return (app, dependencies) => {
    const { chains, database, logger } = dependencies;
    app.openapi(routeOf(dependencies), async (c) => {
      const chain = indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN, erc20Transfers.name);
      const token = c.req.valid('param').tokenAddress;
      const ends = performance.now() + waitMs;
      const progress = await kept.keep(chain, { dataset: erc20Transfers, state: erc20TokenHolders }, token, waitMs);
      const found = await readHolderCoverage(database, chain, token);
      if (!found.isCovered)
        await walletHistory.requestContract({ database, logger }, chain, token, c.get('principal')?.id ?? 'open');
      const patience = { waitMs: Math.max(0, ends - performance.now()), maxAgeMs: COUNTED_MS };
      const counts = progress === 'built' ? await questions.ask(chain, HOLDERS_COUNTED, { token }, patience) : null;
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

/** What is known of the transfers of a token. */
export async function readHolderCoverage(database: Database, chain: Chain, token: Address) {
  const of = {
    kind: 'contract',
    subject: '$1',
    chainId: '$2',
    dataset: erc20Transfers.name,
    states: [erc20TokenHolders],
  } as const;
  const [row] = await database.query<SubjectColumns>(
    `WITH ${subjectCoverage(of)} SELECT ${subjectColumns(of)} FROM covered LEFT JOIN ${subjectHistory(of)}`,
    [addressBytes(token), chain.id],
  );
  return readSubject(chain, row, await firstBlockOf({ chain, database }, token));
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
