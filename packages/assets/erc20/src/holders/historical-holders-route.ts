import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql } from '@chainstead/db';
import { dateParameter, InvalidParameterError, routesFor, textParameter, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { ContractServices, Erc20Services } from '../routes.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { ACQUISITIONS, erc20TokenHolders, HOLDER_CLASSES } from '../transfers/token-holders.ts';
import { type HolderStanding, readStanding, restartHolders } from './count-holders.ts';
import { getKnownHolders } from './get-known-holders.ts';
import { acquisitions, classes, percentChange } from './token-holders-route.ts';

/** UTC. Moments are milliseconds since the Unix epoch. */

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

const LENGTHS = {
  '1min': MINUTE,
  '5min': 5 * MINUTE,
  '10min': 10 * MINUTE,
  '30min': 30 * MINUTE,
  '1h': 60 * MINUTE,
  '4h': 240 * MINUTE,
  '12h': 720 * MINUTE,
  '1d': DAY,
} as const;

export const TIME_FRAMES = [...(Object.keys(LENGTHS) as (keyof typeof LENGTHS)[]), '1w', '1m'] as const;

/** `1m` is a month. */
export type TimeFrame = (typeof TIME_FRAMES)[number];

/** 1970 began on a Thursday. */
const FIRST_MONDAY = 4 * DAY;

export function beginningOf(frame: TimeFrame, moment: number): number {
  if (frame === '1m') {
    const date = new Date(moment);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  }
  if (frame === '1w') return Math.floor((moment - FIRST_MONDAY) / (7 * DAY)) * 7 * DAY + FIRST_MONDAY;
  return Math.floor(moment / LENGTHS[frame]) * LENGTHS[frame];
}

export function endOf(frame: TimeFrame, beginning: number): number {
  if (frame === '1m') {
    const date = new Date(beginning);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  }
  return beginning + (frame === '1w' ? 7 * DAY : LENGTHS[frame]);
}

/** Backwards from the interval of a moment, none below the lowest. */
export function beginningsDown(frame: TimeFrame, from: number, lowest: number, count: number): readonly number[] {
  const beginnings: number[] = [];
  let beginning = beginningOf(frame, from);
  while (beginning >= lowest && beginnings.length < count) {
    beginnings.push(beginning);
    beginning = beginningOf(frame, beginning - 1);
  }
  return beginnings;
}

const { count, integer } = wire;

const intervalView = view(
  'HistoricalTokenHolders',
  (interval: HoldersOfInterval) => ({
    ...interval,
    holders: Math.max(0, interval.holders),
    change: changeIn(interval),
  }),
  {
    timestamp: wire.wire(z.iso.datetime({ precision: 3 }), (moment: number) => new Date(moment).toISOString())(
      'Start of the interval',
      'starts',
    ),
    totalHolders: count('Number of holders at the end of the interval', 'holders'),
    netHolderChange: integer.of('change'),
    holderPercentChange: wire.wire(z.number())(({ holders, change }) => percentChange(holders - change, change)),
    newHoldersByAcquisition: acquisitions.of('acquired'),
    holdersIn: classes.of('came'),
    holdersOut: classes.of('gone'),
  },
);

/** docs/api/tokens.md#token-holders */
export const historicalHoldersRoute = routesFor<
  ContractServices & Pick<Erc20Services, 'projections'>
>().defineListRoute({
  path: '/api/v2.2/erc20/{tokenAddress}/holders/historical',
  operationId: 'getHistoricalTokenHolders',
  tag: 'Tokens',
  summary: 'List the number of holders of a token over time',
  description:
    'One row per time interval, newest first. If the token is not indexed from its first block, rows start at its first request.',
  params: [{ tokenAddress: 'address' }],
  query: [
    'chain',
    {
      fromDate: dateParameter('').openapi({ description: 'Required. Its interval is the first one.' }),
      toDate: dateParameter('').openapi({ description: 'Required. Its interval is the last one.' }),
      timeFrame: textParameter(`one of ${TIME_FRAMES.join(', ')}`, (text) =>
        text === '1M' ? '1m' : TIME_FRAMES.find((frame) => frame === text),
      )
        .default('1min')
        .openapi({
          type: 'string',
          enum: [...TIME_FRAMES],
          default: '1min',
          description: 'Length of the intervals in UTC. Weeks begin on Monday. 1m (also 1M) is a month.',
        }),
    },
    'limit',
  ],
  name: 'HistoricalTokenHoldersPage',
  response: 'A page of holder counts by interval',
  datasets: [erc20Transfers.name],
  // The last interval of a page, and the number of holders before it.
  position: z.object({ before: z.number(), holders: z.int() }),
  firstPage: 1,
  async read({
    database,
    logger,
    services,
    chain,
    tokenAddress: token,
    requester,
    timeFrame: frame,
    ...request
  }) {
    const { limit, after } = request.query;
    const span = spanOf(request);
    await services.projections.keep(chain, { dataset: erc20Transfers, state: erc20TokenHolders }, token);
    const { isCovered, isBuilt, indexed } = await getKnownHolders(database, chain, token);
    if (!isCovered)
      await services.onDemandBackfill.requestContract({ database, logger }, chain, token, requester);
    const standing = await readStanding({ chain, database }, token);
    if (standing.isWhole && !standing.isExact) await restartHolders(database, chain, token);
    const isReported = isBuilt && !standing.lies;
    const wanted = { frame, before: after?.before, count: limit + 1 };
    const intervals = isReported ? intervalsOf(wanted, span, standing) : [];
    const rows = await getHistoricalHolders(database, chain, {
      token,
      intervals: intervals.slice(0, limit),
      holdersAtEnd: after?.holders ?? null,
    });
    const last = intervals.length > limit ? rows.at(-1) : undefined;
    const complete = indexed.complete && isReported && standing.adds && standing.isExact;
    return {
      rows,
      indexed: { ...indexed, complete },
      next: last && {
        position: { before: last.starts, holders: last.holders - changeIn(last) },
        upperBound: indexed.toBlock ?? 0,
      },
    };
  },
  view: intervalView,
  row: (interval) => [interval],
  fields: ({ page, page_size: pageSize, ...others }) => ({ page, pageSize, ...others }),
});

/** @throws InvalidParameterError if a date is missing, or the dates are in the wrong order */
function spanOf({
  fromDate,
  toDate,
}: {
  readonly fromDate?: Date | undefined;
  readonly toDate?: Date | undefined;
}) {
  const missing = Object.entries({ fromDate, toDate }).filter(([, value]) => value === undefined);
  if (missing.length > 0)
    throw new InvalidParameterError(
      ...missing.map(([parameter]) => ({ parameter, message: `${parameter} is required` })),
    );
  const span = { from: fromDate?.getTime() ?? 0, to: toDate?.getTime() ?? 0 };
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

/** Milliseconds since the Unix epoch, end exclusive. */
interface Interval {
  readonly starts: number;
  readonly ends: number;
}

interface HoldersOfInterval extends Interval {
  /** At the end; `came`, `gone` by index of `HOLDER_CLASSES`, `acquired` of `ACQUISITIONS`. */
  readonly holders: number;
  readonly came: readonly number[];
  readonly gone: readonly number[];
  readonly acquired: readonly number[];
}

/** Holders at the end minus those at the start. */
function changeIn({ came, gone }: Pick<HoldersOfInterval, 'came' | 'gone'>): number {
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  return sum(came) - sum(gone);
}

/** @param requested newest first. `holdersAtEnd` null: current count minus later changes */
async function getHistoricalHolders(
  database: Database,
  chain: Chain,
  requested: {
    readonly token: Address;
    readonly intervals: readonly Interval[];
    readonly holdersAtEnd: number | null;
  },
): Promise<readonly HoldersOfInterval[]> {
  if (requested.intervals.length === 0) return [];
  // Null for an interval without a change.
  const rows = await database.query<
    Record<'holdersAtEnd' | 'place', number> &
      Record<'class' | 'came' | 'gone' | 'airdropped' | 'swapped', number | null>
  >(historicalHoldersStatement(chain, requested.token, requested.intervals));
  let holders = requested.holdersAtEnd ?? rows[0]?.holdersAtEnd ?? 0;
  return requested.intervals.map((interval, index) => {
    const own = rows.filter(({ place }) => place === index + 1);
    const sum = (column: 'came' | 'gone' | 'airdropped' | 'swapped'): number =>
      own.reduce((total, row) => total + (row[column] ?? 0), 0);
    const ofClass = (column: 'came' | 'gone'): readonly number[] =>
      HOLDER_CLASSES.map((_, index) => own.find((row) => row.class === index)?.[column] ?? 0);
    const [airdrop, swap] = [sum('airdropped'), sum('swapped')];
    const byWay = { transfer: sum('came') - airdrop - swap, airdrop, swap };
    const changes = { came: ofClass('came'), gone: ofClass('gone') };
    const holdersAtEnd = holders;
    holders -= changeIn(changes);
    return { ...interval, ...changes, holders: holdersAtEnd, acquired: ACQUISITIONS.map((way) => byWay[way]) };
  });
}

/** One range of the minutes' key per interval, and one for all later minutes. */
export function historicalHoldersStatement(chain: Chain, token: Address, intervals: readonly Interval[]): Sql {
  const ofToken = sql`token = ${addressBytes(token)} AND chain_id = ${chain.id}`;
  const starts = intervals.map((interval) => new Date(interval.starts));
  const ends = intervals.map((interval) => new Date(interval.ends));
  const newestEnd = new Date(Math.max(...intervals.map((interval) => interval.ends)));
  return sql`SELECT coalesce((SELECT holders FROM erc20_holder_counts WHERE ${ofToken}), 0)
    - coalesce((SELECT sum(came - gone) FROM erc20_holder_minutes WHERE ${ofToken} AND minute >= ${newestEnd}), 0)::int AS "holdersAtEnd",
  frame.place::int AS place, counted.class, counted.came, counted.gone, counted.airdropped, counted.swapped
FROM unnest(${starts}::timestamptz[], ${ends}::timestamptz[]) WITH ORDINALITY AS frame(starts, ends, place)
LEFT JOIN LATERAL (
  SELECT class, sum(came)::int AS came, sum(gone)::int AS gone, sum(airdropped)::int AS airdropped, sum(swapped)::int AS swapped
  FROM erc20_holder_minutes WHERE ${ofToken} AND minute >= frame.starts AND minute < frame.ends GROUP BY class
) AS counted ON true
ORDER BY frame.place`;
}
