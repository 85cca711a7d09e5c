import { decimalAmount } from '@chainstead/core';
import { indexedBlocks, routesFor, view, wire } from '@chainstead/http';
import type { Indexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { percentOfSupply } from '../balances/balance-questions.ts';
import type { ContractServices, Erc20Services } from '../routes.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { byAcquisition, byClass, erc20TokenHolders } from '../transfers/token-holders.ts';
import { COUNTED_MS, getKnownHolders } from './get-known-holders.ts';
import { CHANGE_SPANS, type ChangeSpan, HOLDERS_COUNTED, type HolderCounts, TOPS } from './holder-questions.ts';

const { count, integer, text } = wire;
const number = wire.wire(z.number());

interface Held {
  readonly held: string;
  readonly counts: HolderCounts;
  readonly decimals: number;
}

const supplyView = view(null, (held: Held) => held, {
  supply: text({ description: 'Their total balance in whole tokens', example: '1500.25' }, ({ held, decimals }) =>
    decimalAmount(held, decimals),
  ),
  supplyPercent: number(({ held, counts }) => percentOfSupply(BigInt(held), BigInt(counts.supply)) ?? 0),
});

const changeView = view(null, (holders: number, change: number) => ({ before: holders - change, change }), {
  change: integer(),
  changePercent: number(({ before, change }) => percentChange(before, change)),
});

const TOP_NAMES = TOPS.map((top) => `top${top}` as const);
const SPAN_NAMES = Object.keys(CHANGE_SPANS) as ChangeSpan[];

/** By index of `ACQUISITIONS`. */
export const acquisitions = wire.wire(
  z.object({ swap: z.int(), transfer: z.int(), airdrop: z.int() }).openapi('HoldersByAcquisition', {
    description:
      'Holders by their first acquisition. airdrop: a transaction with more than 20 transfers of the token. Swaps are not distinguished yet.',
  }),
  (acquired: readonly number[]) => byAcquisition((index) => acquired[index] ?? 0),
);

/** By index of `HOLDER_CLASSES`. */
export const classes = wire.wire(
  z.object(byClass(() => z.int())).openapi('HoldersByClass', {
    description:
      'By percentage of the supply: above 0.1 whales, from 0.05 sharks, 0.005 dolphins, 0.001 fish, 0.00025 octopus, 0.00015 crabs, below that shrimps',
  }),
  (holders: readonly number[]) => byClass((index) => holders[index] ?? 0),
);

const tokenHoldersView = view(
  'TokenHolders',
  (counts: HolderCounts, decimals: number, indexed: Indexed) => ({ ...counts, ...{ counts, decimals, indexed } }),
  {
    totalHolders: count('Number of accounts with a balance above zero', 'holders'),
    holderSupply: wire.wire(z.object(recordOf(TOP_NAMES, () => supplyView.schema)))(({ counts, decimals }) =>
      recordOf(TOP_NAMES, (index) => supplyView.show({ held: counts.tops[index] ?? '0', counts, decimals })),
    ),
    holderChange: wire.wire(z.object(recordOf(SPAN_NAMES, () => changeView.schema)))(
      'Change in the number of holders over this period, up to the newest indexed block',
      ({ holders, changes }) => recordOf(SPAN_NAMES, (index) => changeView.show(holders, changes[index] ?? 0)),
    ),
    holdersByAcquisition: acquisitions.of('acquired'),
    holderDistribution: classes.of('classes'),
    indexed: indexedBlocks(),
  },
);

const pendingSchema = z.object({ message: z.string() }).openapi('TokenHoldersPending');

const HOLDERS_PENDING = 'Holders of this token are being counted. Please try again later.';

/** A worker counts. While the counts are cached, a response is one statement. docs/api/tokens.md#token-holders */
export const tokenHoldersRoute = routesFor<
  ContractServices & Pick<Erc20Services, 'nodeReads' | 'projections'>
>().defineRoute({
  path: '/api/v2.2/erc20/{tokenAddress}/holders',
  operationId: 'getTokenHolders',
  tag: 'Tokens',
  summary: 'Get holder statistics of a token',
  description:
    'Number of holders, share of the largest, changes over time, and distribution by size. Counted in the background: returns 202 until the count is complete.',
  params: [{ tokenAddress: 'address' }],
  query: ['chain'],
  datasets: [erc20Transfers.name],
  response: { description: 'The holder statistics', schema: tokenHoldersView.schema },
  otherResponses: {
    202: {
      description: 'The holders are being counted',
      content: { 'application/json': { schema: pendingSchema } },
    },
  },
  async answer({ tokenAddress: token, chain, requester, c, services, ...request }) {
    const { nodeReads, projections, onDemandBackfill } = services;
    let holders = await getKnownHolders(request.database, chain, token);
    let isKept = holders.isBuilt && holders.isAskNoted;
    if (!isKept) {
      const kind = { dataset: erc20Transfers, state: erc20TokenHolders };
      isKept = (await projections.keep(chain, kind, token)) === 'built';
      holders = await getKnownHolders(request.database, chain, token);
    }
    const { indexed, isCovered, decimals } = holders;
    if (!isCovered) await onDemandBackfill.requestContract(request, chain, token, requester);
    const counts = isKept
      ? (holders.counts ?? (await nodeReads.request(chain, HOLDERS_COUNTED, { token }, { maxAgeMs: COUNTED_MS })))
      : null;
    if (counts === null) return c.json({ message: HOLDERS_PENDING }, 202);
    return tokenHoldersView.show(counts, decimals, {
      ...indexed,
      complete: indexed.complete && counts.isSound,
    });
  },
});

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
