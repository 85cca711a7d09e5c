import { decimalAmount } from '@chainstead/core';
import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { percentOfSupply } from '../balances/percent-of-supply.ts';
import { byAcquisition, byClass } from '../transfers/holder-classes.ts';
import { CHANGE_SPANS, type ChangeSpan, type HolderCounts, TOPS } from './holder-questions.ts';

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
export const tokenHoldersSchema = z
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

export const holdersPendingSchema = z.object({ message: z.string() }).openapi('TokenHoldersPending');

export const HOLDERS_PENDING = 'Holders of this token are being counted. Please try again later.';

export function showHolders(
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
