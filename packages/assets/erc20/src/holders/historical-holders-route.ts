import { parseAddress } from '@chainstead/core';
import {
  defineListRoute,
  InvalidParameterError,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { type HolderStanding, readStanding } from './count-holders.ts';
import { changeIn, getHistoricalHolders, type Interval } from './get-historical-holders.ts';
import { getKnownHolders } from './get-known-holders.ts';
import { historicalHoldersSchema, showInterval } from './historical-holders-response.ts';
import { restartHolders } from './restart-holders.ts';
import { beginningOf, beginningsDown, endOf, TIME_FRAMES, type TimeFrame } from './time-frames.ts';
import type { TokenHoldersOptions } from './token-holders-options.ts';

/** docs/api/tokens.md#token-holders */
export function createHistoricalHoldersRoute(options: TokenHoldersOptions): RouteModule {
  const { projections, onDemandBackfill } = options;
  return (app, dependencies) => {
    const { database, logger, parameters } = dependencies;
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/erc20/{tokenAddress}/holders/historical',
      operationId: 'getHistoricalTokenHolders',
      tags: ['Tokens'],
      summary: 'List the number of holders of a token over time',
      description:
        'One row per time interval, newest first. If the token is not indexed from its first block, rows start at its first request.',
      params: z.object({ tokenAddress: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        fromDate: parameters.fromDate.openapi({
          description: 'Required. Its interval is the first one.',
        }),
        toDate: parameters.toDate.openapi({ description: 'Required. Its interval is the last one.' }),
        timeFrame: textParameter(`one of ${TIME_FRAMES.join(', ')}`, (text) =>
          text === '1M' ? '1m' : TIME_FRAMES.find((frame) => frame === text),
        )
          .optional()
          .openapi({
            type: 'string',
            enum: [...TIME_FRAMES],
            default: '1min',
            description: 'Length of the intervals in UTC. Weeks begin on Monday. 1m (also 1M) is a month.',
          }),
        limit: parameters.limit,
        cursor: parameters.cursor,
      }),
      response: { description: 'A page of holder counts by interval', schema: historicalHoldersSchema },
      datasets: [erc20Transfers.name],
      cursorName: 'historical-token-holders',
      filter: z.object({
        tokenAddress: z.string(),
        chain: z.string().default('eth'),
        fromDate: z.number().nullable().default(null),
        toDate: z.number().nullable().default(null),
        timeFrame: z.enum(TIME_FRAMES).default('1min'),
      }),
      filterOf: ({ tokenAddress, chain, fromDate, toDate, timeFrame }) => ({
        ...{ tokenAddress, chain: chain?.key, timeFrame },
        ...{ fromDate: fromDate?.getTime(), toDate: toDate?.getTime() },
      }),
      // The last interval of a page, and the number of holders before it.
      position: z.object({ before: z.number(), holders: z.int() }),
      firstPage: 1,
      read: async ({ chain, filter, limit, position, requester }) => {
        const span = spanOf(filter);
        const token = parseAddress(filter.tokenAddress);
        await projections.keep(chain, { dataset: erc20Transfers, state: erc20TokenHolders }, token);
        const { isCovered, isBuilt, indexed } = await getKnownHolders(database, chain, token);
        if (!isCovered) await onDemandBackfill.requestContract({ database, logger }, chain, token, requester);
        const standing = await readStanding({ chain, database }, token);
        if (standing.isWhole && !standing.isExact) await restartHolders(database, chain, token);
        const isReported = isBuilt && !standing.lies;
        const wanted = { frame: filter.timeFrame, before: position?.before, count: limit + 1 };
        const intervals = isReported ? intervalsOf(wanted, span, standing) : [];
        const shown = await getHistoricalHolders(database, chain, {
          token,
          intervals: intervals.slice(0, limit),
          holdersAtEnd: position?.holders ?? null,
        });
        const last = intervals.length > limit ? shown.at(-1) : undefined;
        const complete = indexed.complete && isReported && standing.adds && standing.isExact;
        return {
          shown,
          indexed: { ...indexed, complete },
          next: last && {
            position: { before: last.starts, holders: last.holders - changeIn(last) },
            upperBound: indexed.toBlock ?? 0,
          },
        };
      },
      present: ({ shown, indexed }, { page, page_size: pageSize, cursor }) => ({
        ...{ page, pageSize, cursor },
        indexed: showIndexed(indexed),
        result: shown.map(showInterval),
      }),
    });
  };
}

/** @throws InvalidParameterError if a date is missing, or the dates are in the wrong order */
function spanOf({ fromDate, toDate }: { readonly fromDate: number | null; readonly toDate: number | null }) {
  const missing = Object.entries({ fromDate, toDate }).filter(([, value]) => value === null);
  if (missing.length > 0)
    throw new InvalidParameterError(
      ...missing.map(([parameter]) => ({ parameter, message: `${parameter} is required` })),
    );
  const span = { from: fromDate ?? 0, to: toDate ?? 0 };
  if (span.from > span.to)
    throw new InvalidParameterError({
      parameter: 'fromDate',
      given: new Date(span.from).toISOString(),
      allowed: `at most toDate (${new Date(span.to).toISOString()})`,
    });
  return span;
}

/**
 * Newest first, and one more if another page follows. None is above the newest block or, without
 * full coverage, before the first request.
 */
function intervalsOf(
  {
    frame,
    before,
    count,
  }: { readonly frame: TimeFrame; readonly before: number | undefined; readonly count: number },
  span: ReturnType<typeof spanOf>,
  { newestAt, begunAt, isWhole }: HolderStanding,
): readonly Interval[] {
  if (newestAt === null) return [];
  const newest = Math.min(span.to, newestAt.getTime(), (before ?? Number.POSITIVE_INFINITY) - 1);
  const requested = beginningOf(frame, span.from);
  const lowest = isWhole ? requested : Math.max(requested, begunAt?.getTime() ?? Number.POSITIVE_INFINITY);
  return beginningsDown(frame, newest, lowest, count).map((starts) => ({ starts, ends: endOf(frame, starts) }));
}
