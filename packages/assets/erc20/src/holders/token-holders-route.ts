import { defineRoute, type RouteModule } from '@chainstead/http';
import { showIndexed } from '@chainstead/pages';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { COUNTED_MS, getKnownHolders } from './get-known-holders.ts';
import { HOLDERS_COUNTED } from './holder-questions.ts';
import type { TokenHoldersOptions } from './token-holders-options.ts';
import {
  HOLDERS_PENDING,
  holdersPendingSchema,
  showHolders,
  tokenHoldersSchema,
} from './token-holders-response.ts';

/** A worker counts. While the counts are cached, a response is one statement. docs/api/tokens.md#token-holders */
export function createTokenHoldersRoute(options: TokenHoldersOptions): RouteModule {
  const { nodeReads, projections, onDemandBackfill } = options;
  return (app, dependencies) => {
    const { database, logger, parameters } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/erc20/{tokenAddress}/holders',
      operationId: 'getTokenHolders',
      tags: ['Tokens'],
      summary: 'Get holder statistics of a token',
      description:
        'Number of holders, share of the largest, changes over time, and distribution by size. Counted in the background: returns 202 until the count is complete.',
      params: { tokenAddress: parameters.address },
      query: { chain: parameters.chain },
      datasets: [erc20Transfers.name],
      response: { description: 'The holder statistics', schema: tokenHoldersSchema },
      otherResponses: {
        202: {
          description: 'The holders are being counted',
          content: { 'application/json': { schema: holdersPendingSchema } },
        },
      },
      async answer({ tokenAddress: token, chain, requester, c }) {
        let holders = await getKnownHolders(database, chain, token);
        let isKept = holders.isBuilt && holders.isAskNoted;
        if (!isKept) {
          const kind = { dataset: erc20Transfers, state: erc20TokenHolders };
          isKept = (await projections.keep(chain, kind, token)) === 'built';
          holders = await getKnownHolders(database, chain, token);
        }
        const { indexed, isCovered, decimals } = holders;
        if (!isCovered) await onDemandBackfill.requestContract({ database, logger }, chain, token, requester);
        const counts = isKept
          ? (holders.counts ??
            (await nodeReads.request(chain, HOLDERS_COUNTED, { token }, { maxAgeMs: COUNTED_MS })))
          : null;
        if (counts === null) return c.json({ message: HOLDERS_PENDING }, 202);
        const shown = showIndexed({ ...indexed, complete: indexed.complete && counts.isSound });
        return { ...showHolders(counts, decimals), indexed: shown };
      },
    });
  };
}
