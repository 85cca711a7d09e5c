import { indexedSchema } from '@chainstead/answers';
import { decimalAmount } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { percentOfSupply } from '../balances/percent-of-supply.ts';
import { byAcquisition, byClass, HOLDER_CLASSES, type HolderClass } from '../transfers/holder-classes.ts';
import { CHANGE_SPANS, type ChangeSpan, type HolderCounts, TOPS } from './holder-questions.ts';

const supplySchema = z.object({
  supply: z.string().openapi({ description: 'What they hold together, in whole tokens', example: '1500.25' }),
  supplyPercent: z.number(),
});
const changeSchema = z.object({ change: z.int(), changePercent: z.number() });

type TopName = `top${(typeof TOPS)[number]}`;
const TOP_NAMES = TOPS.map((places) => `top${places}` as const);
const SPAN_NAMES = Object.keys(CHANGE_SPANS) as ChangeSpan[];

export const acquisitionsSchema = z
  .object({ swap: z.int(), transfer: z.int(), airdrop: z.int() })
  .openapi('HoldersByAcquisition', {
    description:
      'How they first came by the token. airdrop: in a transaction with more than 20 transfers of it. Swaps are not told apart yet.',
  });

export const classesSchema = z
  .object(shapeOf<HolderClass, z.ZodInt>(HOLDER_CLASSES, () => z.int()))
  .openapi('HoldersByClass', {
    description:
      'By percent of the supply: above 0.1 whales, from 0.05 sharks, 0.005 dolphins, 0.001 fish, 0.00025 octopus, 0.00015 crabs, below that shrimps',
  });

/** The answer of `getTokenHolders` (docs/provider-contract.md#token-holders). */
export const tokenHoldersSchema = z
  .object({
    totalHolders: z.int().min(0).openapi({ description: 'Accounts with a balance above zero' }),
    holderSupply: z.object(shapeOf<TopName, typeof supplySchema>(TOP_NAMES, () => supplySchema)),
    holderChange: z.object(shapeOf<ChangeSpan, typeof changeSchema>(SPAN_NAMES, () => changeSchema)).openapi({
      description: 'How many holders there are more than that long before the newest indexed block',
    }),
    holdersByAcquisition: acquisitionsSchema,
    holderDistribution: classesSchema,
    indexed: indexedSchema,
  })
  .openapi('TokenHolders');

/** While they are counted for the first time. */
export const holdersPendingSchema = z.object({ message: z.string() }).openapi('TokenHoldersPending');

export const HOLDERS_PENDING = 'Holders of this token are being counted. Please try again later.';

/** The members that tell of holders. */
export function showHolders(counts: HolderCounts): Omit<z.infer<typeof tokenHoldersSchema>, 'indexed'> {
  const { holders, supply, decimals } = counts;
  return {
    totalHolders: holders,
    holderSupply: recordOf(TOP_NAMES, (_, place) => {
      const held = counts.tops[place] ?? '0';
      return {
        supply: decimalAmount(held, decimals),
        supplyPercent: percentOfSupply(BigInt(held), BigInt(supply)) ?? 0,
      };
    }),
    holderChange: recordOf(SPAN_NAMES, (_, place) => {
      const change = counts.changes[place] ?? 0;
      return { change, changePercent: percentChange(holders - change, change) };
    }),
    holdersByAcquisition: byAcquisition((place) => counts.acquired[place] ?? 0),
    holderDistribution: byClass((place) => counts.classes[place] ?? 0),
  };
}

/** Of what there was before; 100 where that was nothing. */
export function percentChange(before: number, change: number): number {
  if (change === 0) return 0;
  return before <= 0 ? 100 : (100 * change) / before;
}

function recordOf<Name extends string, Value>(
  names: readonly Name[],
  valueFor: (name: Name, place: number) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name, place) => [name, valueFor(name, place)])) as Record<Name, Value>;
}

function shapeOf<Name extends string, Schema>(names: readonly Name[], schema: () => Schema): Record<Name, Schema> {
  return recordOf(names, schema);
}
