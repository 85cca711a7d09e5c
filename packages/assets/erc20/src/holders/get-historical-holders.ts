import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql } from '@chainstead/db';
import { ACQUISITIONS, HOLDER_CLASSES } from '../transfers/holder-classes.ts';

/** Milliseconds since the Unix epoch, end exclusive. */
export interface Interval {
  readonly starts: number;
  readonly ends: number;
}

export interface HoldersOfInterval extends Interval {
  /** At the end; `came`, `gone` by index of `HOLDER_CLASSES`, `acquired` of `ACQUISITIONS`. */
  readonly holders: number;
  readonly came: readonly number[];
  readonly gone: readonly number[];
  readonly acquired: readonly number[];
}

/** Holders at the end minus those at the start. */
export function changeIn({ came, gone }: Pick<HoldersOfInterval, 'came' | 'gone'>): number {
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  return sum(came) - sum(gone);
}

/** @param requested newest first. `holdersAtEnd` null: current count minus later changes */
export async function getHistoricalHolders(
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
