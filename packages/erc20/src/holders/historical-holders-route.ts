import { showIndexed } from '@chainstead/answers';
import { parseAddress } from '@chainstead/core';
import {
  type ApiDependencies,
  errorResponses,
  InvalidParameterError,
  indexedChain,
  type Page,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { type HolderStanding, readStanding } from './count-holders.ts';
import { getHistoricalHolders, type Interval } from './get-historical-holders.ts';
import { getKnownHolders } from './get-known-holders.ts';
import { historicalHoldersSchema, showInterval } from './historical-holders-response.ts';
import { restartHolders } from './restart-holders.ts';
import { beginningOf, beginningsDown, endOf, TIME_FRAMES, type TimeFrame } from './time-frames.ts';
import type { TokenHoldersOptions } from './token-holders-options.ts';

/**
 * `GET /api/v2.2/erc20/{tokenAddress}/holders/historical`: how the number of a token's holders changed by intervals of time
 * (docs/provider-contract.md#token-holders).
 */
export function createHistoricalHoldersRoute({ kept, walletHistory, waitMs }: TokenHoldersOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database, limits, logger, paging } = dependencies;
    const runs = paging.forRoute({
      route: 'historical-token-holders',
      filter: filterSchema,
      position: positionSchema,
      defaults: { tokenAddress: '', chain: DEFAULT_CHAIN, fromDate: null, toDate: null, timeFrame: '1min' },
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    });
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const page = runs.open({
        cursor: query.cursor,
        limit: query.limit,
        order: undefined,
        filter: {
          tokenAddress: c.req.valid('param').tokenAddress,
          chain: query.chain?.key,
          fromDate: query.fromDate?.getTime(),
          toDate: query.toDate?.getTime(),
          timeFrame: query.timeFrame,
        },
      });
      const chain = indexedChain(chains, page.filter.chain, erc20Transfers.name);
      const span = spanOf(page);
      const token = parseAddress(page.filter.tokenAddress);
      await kept.keep(chain, { dataset: erc20Transfers, state: erc20TokenHolders }, token, waitMs);
      const found = await getKnownHolders(database, chain, token);
      if (!found.isCovered)
        await walletHistory.requestContract({ database, logger }, chain, token, c.get('principal')?.id ?? 'open');
      const standing = await readStanding({ chain, database }, token);
      if (standing.isWhole && !standing.isExact) await restartHolders(database, chain, token);
      const isTold = found.isBuilt && !standing.lies;
      const intervals = isTold ? intervalsOf(page, span, standing) : [];
      const shown = await getHistoricalHolders(database, chain, {
        token,
        intervals: intervals.slice(0, page.limit),
        holdersAtEnd: page.position?.holders ?? null,
      });
      const last = shown.at(-1);
      const next =
        last !== undefined && intervals.length > page.limit ? { before: last.starts, holders: before(last) } : null;
      const { indexed } = found;
      const isSound = isTold && standing.adds && standing.isExact;
      return c.json(
        {
          page: page.page + 1,
          pageSize: page.limit,
          cursor: next === null ? null : runs.next(page, { position: next, upperBound: indexed.toBlock ?? 0 }),
          indexed: showIndexed({ ...indexed, complete: indexed.complete && isSound }),
          result: shown.map(showInterval),
        },
        200,
      );
    });
  };
}

const DEFAULT_CHAIN = 'eth';
const PAGE_SIZE_DEFAULT = 100;

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. Dates are milliseconds since the Unix epoch. */
const filterSchema = z.object({
  tokenAddress: z.string(),
  chain: z.string(),
  fromDate: z.number().nullable(),
  toDate: z.number().nullable(),
  timeFrame: z.string(),
});

/** The last interval of a page, and how many held the token before it. */
const positionSchema = z.object({ before: z.number(), holders: z.int() });

type HistoricalPage = Page<z.infer<typeof filterSchema>, z.infer<typeof positionSchema>>;

interface Span {
  readonly from: number;
  readonly to: number;
}

/** @throws InvalidParameterError where a date is missing, or both are the wrong way round */
function spanOf({ filter: { fromDate, toDate } }: HistoricalPage): Span {
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
 * The intervals of a page, newest first, and one more where another page follows. None is above the newest indexed block; where the token's history
 * is not whole, none that began before it was first asked about.
 */
function intervalsOf(page: HistoricalPage, span: Span, standing: HolderStanding): readonly Interval[] {
  const frame = page.filter.timeFrame as TimeFrame;
  const { newestAt, begunAt, isWhole } = standing;
  if (newestAt === null) return [];
  const newest = Math.min(span.to, newestAt.getTime(), (page.position?.before ?? Number.POSITIVE_INFINITY) - 1);
  const asked = beginningOf(frame, span.from);
  const lowest = isWhole ? asked : Math.max(asked, begunAt?.getTime() ?? Number.POSITIVE_INFINITY);
  return beginningsDown(frame, newest, lowest, page.limit + 1).map((starts) => ({
    starts,
    ends: endOf(frame, starts),
  }));
}

function before({
  holders,
  came,
  gone,
}: {
  holders: number;
  came: readonly number[];
  gone: readonly number[];
}): number {
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  return holders - sum(came) + sum(gone);
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/erc20/{tokenAddress}/holders/historical',
    operationId: 'getHistoricalTokenHolders',
    tags: ['Token'],
    summary: 'How the number of holders changed',
    description:
      'By intervals of time, newest first, each with a row. Where the history of the token is not whole, from its first request on.',
    request: {
      params: z.object({ tokenAddress: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        fromDate: parameters.fromDate.openapi({
          description: 'Required. The first interval is the one that it lies in.',
        }),
        toDate: parameters.toDate.openapi({ description: 'Required. The last interval is the one that it lies in.' }),
        timeFrame: textParameter(FRAMES, parseFrame)
          .optional()
          .openapi({
            type: 'string',
            enum: [...TIME_FRAMES],
            default: '1min',
            description: 'Length of the intervals, which are UTC; weeks begin on Monday. 1m (also 1M) is a month.',
          }),
        limit: parameters.limit,
        cursor: parameters.cursor,
      }),
    },
    responses: {
      200: { description: 'A page of intervals', content: { 'application/json': { schema: historicalHoldersSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}

const FRAMES = `one of ${TIME_FRAMES.join(', ')}`;

function parseFrame(text: string): TimeFrame | undefined {
  return text === '1M' ? '1m' : TIME_FRAMES.find((frame) => frame === text);
}
