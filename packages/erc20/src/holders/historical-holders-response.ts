import { indexedSchema } from '@chainstead/data-api';
import { z } from '@hono/zod-openapi';
import { byAcquisition, byClass } from '../transfers/holder-classes.ts';
import type { HoldersOfInterval } from './get-historical-holders.ts';
import { acquisitionsSchema, classesSchema, percentChange } from './token-holders-response.ts';

const intervalSchema = z
  .object({
    timestamp: z.iso.datetime({ precision: 3 }).openapi({ description: 'Start of the interval' }),
    totalHolders: z.int().min(0).openapi({ description: 'Number of holders at the end of the interval' }),
    netHolderChange: z.int(),
    holderPercentChange: z.number(),
    newHoldersByAcquisition: acquisitionsSchema,
    holdersIn: classesSchema,
    holdersOut: classesSchema,
  })
  .openapi('HistoricalTokenHolders');

/** The response of `getHistoricalTokenHolders` (docs/api/tokens.md#token-holders). */
export const historicalHoldersSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    pageSize: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(intervalSchema),
  })
  .openapi('HistoricalTokenHoldersPage');

/** Returns one row of the response. */
export function showInterval(interval: HoldersOfInterval): z.infer<typeof intervalSchema> {
  const { starts, came, gone, acquired } = interval;
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  const change = sum(came) - sum(gone);
  const holders = Math.max(0, interval.holders);
  return {
    timestamp: new Date(starts).toISOString(),
    totalHolders: holders,
    netHolderChange: change,
    holderPercentChange: percentChange(holders - change, change),
    newHoldersByAcquisition: byAcquisition((place) => acquired[place] ?? 0),
    holdersIn: byClass((place) => came[place] ?? 0),
    holdersOut: byClass((place) => gone[place] ?? 0),
  };
}
