import { decimalAmount } from '@chainstead/core';
import { defineRoute, type RouteModule } from '@chainstead/http';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { percentOfSupply } from '../balances/balance-questions.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { byAcquisition, byClass, erc20TokenHolders } from '../transfers/token-holders.ts';
import { COUNTED_MS, getKnownHolders } from './get-known-holders.ts';
import { CHANGE_SPANS, type ChangeSpan, HOLDERS_COUNTED, type HolderCounts, TOPS } from './holder-questions.ts';
import type { TokenHoldersOptions } from './token-holders-options.ts';

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

const supplySchema = z.object({
  supply: z.string().openapi({ description: 'Their total balance in whole tokens', example: '1500.25' }),
  supplyPercent: z.number(),
});
const changeSchema = z.object({ change: z.int(), changePercent: z.number() });

const TOP_NAMES = TOPS.map((count) => `top${count}` as const);
const SPAN_NAMES = Object.keys(CHANGE_SPANS) as ChangeSpan[];

export const acquisitionsSchema = z
  .object({ swap: z.int(), transfer: z.int(), airdrop: z.int() })
  .openapi('HoldersByAcquisition', {
    description:
      'Holders by their first acquisition. airdrop: a transaction with more than 20 transfers of the token. Swaps are not distinguished yet.',
  });

export const classesSchema = z.object(byClass(() => z.int())).openapi('HoldersByClass', {
  description:
    'By percentage of the supply: above 0.1 whales, from 0.05 sharks, 0.005 dolphins, 0.001 fish, 0.00025 octopus, 0.00015 crabs, below that shrimps',
});

/** docs/api/tokens.md#token-holders */
const tokenHoldersSchema = z
  .object({
    totalHolders: z.int().min(0).openapi({ description: 'Number of accounts with a balance above zero' }),
    holderSupply: z.object(recordOf(TOP_NAMES, () => supplySchema)),
    holderChange: z.object(recordOf(SPAN_NAMES, () => changeSchema)).openapi({
      description: 'Change in the number of holders over this period, up to the newest indexed block',
    }),
    holdersByAcquisition: acquisitionsSchema,
    holderDistribution: classesSchema,
    indexed: indexedSchema,
  })
  .openapi('TokenHolders');

const holdersPendingSchema = z.object({ message: z.string() }).openapi('TokenHoldersPending');

const HOLDERS_PENDING = 'Holders of this token are being counted. Please try again later.';

function showHolders(
  counts: HolderCounts,
  decimals: number,
): Omit<z.infer<typeof tokenHoldersSchema>, 'indexed'> {
  const { holders, supply } = counts;
  return {
    totalHolders: holders,
    holderSupply: recordOf(TOP_NAMES, (index) => {
      const held = counts.tops[index] ?? '0';
      return {
        supply: decimalAmount(held, decimals),
        supplyPercent: percentOfSupply(BigInt(held), BigInt(supply)) ?? 0,
      };
    }),
    holderChange: recordOf(SPAN_NAMES, (index) => {
      const change = counts.changes[index] ?? 0;
      return { change, changePercent: percentChange(holders - change, change) };
    }),
    holdersByAcquisition: byAcquisition((index) => counts.acquired[index] ?? 0),
    holderDistribution: byClass((index) => counts.classes[index] ?? 0),
  };
}

export function percentChange(before: number, change: number): number {
  if (change === 0) return 0;
  return before <= 0 ? 100 : (100 * change) / before;
}

function recordOf<Name extends string, Value>(
  names: readonly Name[],
  valueFor: (index: number) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name, index) => [name, valueFor(index)])) as Record<Name, Value>;
}
