import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql } from '@chainstead/db';
import { ACQUISITIONS, HOLDER_CLASSES } from '../transfers/holder-classes.ts';

/** A time interval in milliseconds since the Unix epoch, end exclusive. */
export interface Interval {
  readonly starts: number;
  readonly ends: number;
}

/** Changes of a token's holders in an interval. */
export interface HoldersOfInterval extends Interval {
  /** At the end of the interval. */
  readonly holders: number;
  /** By index of `HOLDER_CLASSES`. */
  readonly came: readonly number[];
  readonly gone: readonly number[];
  /** New holders by index of `ACQUISITIONS`. */
  readonly acquired: readonly number[];
}

interface ClassRow {
  holders_at_end: number;
  place: number;
  /** Null, like the other columns, for an interval without a change. */
  class: number | null;
  came: number | null;
  gone: number | null;
  airdropped: number | null;
  swapped: number | null;
}

/**
 * Returns consecutive intervals, newest first.
 * @param holdersAtEnd holders at the end of the newest one, from the previous page; null: the current count minus later
 * changes
 */
export async function getHistoricalHolders(
  database: Database,
  chain: Chain,
  requested: { readonly token: Address; readonly intervals: readonly Interval[]; readonly holdersAtEnd: number | null },
): Promise<readonly HoldersOfInterval[]> {
  if (requested.intervals.length === 0) return [];
  const rows = await database.query<ClassRow>(historicalHoldersStatement(chain, requested.token, requested.intervals));
  let holders = requested.holdersAtEnd ?? rows[0]?.holders_at_end ?? 0;
  return requested.intervals.map((interval, index) => {
    const own = rows.filter(({ place }) => place === index + 1);
    const sum = (column: 'came' | 'gone' | 'airdropped' | 'swapped'): number =>
      own.reduce((total, row) => total + (row[column] ?? 0), 0);
    const ofClass = (column: 'came' | 'gone'): readonly number[] =>
      HOLDER_CLASSES.map((_, place) => own.find((row) => row.class === place)?.[column] ?? 0);
    const [airdrop, swap] = [sum('airdropped'), sum('swapped')];
    const byWay = { transfer: sum('came') - airdrop - swap, airdrop, swap };
    const reported = {
      ...interval,
      holders,
      came: ofClass('came'),
      gone: ofClass('gone'),
      acquired: ACQUISITIONS.map((way) => byWay[way]),
    };
    holders -= sum('came') - sum('gone');
    return reported;
  });
}

/** One range of the minutes' key per interval, and one for all later minutes (token-owners.explain.test.ts). */
export function historicalHoldersStatement(chain: Chain, token: Address, intervals: readonly Interval[]): Sql {
  const ofToken = sql`token = ${addressBytes(token)} AND chain_id = ${chain.id}`;
  const starts = intervals.map((interval) => new Date(interval.starts));
  const ends = intervals.map((interval) => new Date(interval.ends));
  const newestEnd = new Date(Math.max(...intervals.map((interval) => interval.ends)));
  return sql`SELECT coalesce((SELECT holders FROM erc20_holder_counts WHERE ${ofToken}), 0)
    - coalesce((SELECT sum(came - gone) FROM erc20_holder_minutes WHERE ${ofToken} AND minute >= ${newestEnd}), 0)::int AS holders_at_end,
  frame.place::int AS place, counted.class, counted.came, counted.gone, counted.airdropped, counted.swapped
FROM unnest(${starts}::timestamptz[], ${ends}::timestamptz[]) WITH ORDINALITY AS frame(starts, ends, place)
LEFT JOIN LATERAL (
  SELECT class, sum(came)::int AS came, sum(gone)::int AS gone, sum(airdropped)::int AS airdropped, sum(swapped)::int AS swapped
  FROM erc20_holder_minutes WHERE ${ofToken} AND minute >= frame.starts AND minute < frame.ends GROUP BY class
) AS counted ON true
ORDER BY frame.place`;
}
