import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { byAcquisition, byClass } from '../transfers/holder-classes.ts';
import { changeIn, type HoldersOfInterval } from './get-historical-holders.ts';
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

/** docs/api/tokens.md#token-holders */
export const historicalHoldersSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    pageSize: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(intervalSchema),
  })
  .openapi('HistoricalTokenHoldersPage');

export function showInterval(interval: HoldersOfInterval): z.infer<typeof intervalSchema> {
  const { starts, came, gone, acquired } = interval;
  const change = changeIn(interval);
  const holders = Math.max(0, interval.holders);
  return {
    timestamp: new Date(starts).toISOString(),
    totalHolders: holders,
    netHolderChange: change,
    holderPercentChange: percentChange(holders - change, change),
    newHoldersByAcquisition: byAcquisition((index) => acquired[index] ?? 0),
    holdersIn: byClass((index) => came[index] ?? 0),
    holdersOut: byClass((index) => gone[index] ?? 0),
  };
}
