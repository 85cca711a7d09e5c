import type { Chain } from '@chainstead/chains';
import { joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import {
  coverage,
  type Indexed,
  type IndexedColumns,
  isComplete,
  readIndexed,
  toDateBound,
} from '@chainstead/pages';
import { type AnchorPrices, readAnchorPrices } from './anchor-prices.ts';

/** The end of a block: its state and everything before it count. */
export interface PricePlace extends AnchorPrices {
  readonly block: number;
  /** Unix seconds. */
  readonly time: number;
  /** First block of the unbroken run of indexed blocks. Earlier states may be outdated. */
  readonly runStart: number;
  /** Last block before the window; -1: it begins before the first known block. */
  readonly windowStart: number;
}

/** The end of a block, of the last block until a time, or of the newest indexed one. */
export type PriceMoment =
  | { readonly of: 'block'; readonly block: number }
  /** Unix seconds. */
  | { readonly of: 'time'; readonly time: number }
  | { readonly of: 'newest' };

export const STATES_DATASET = 'pool-states';

/** Null: no known block at or before the moment, or it is not indexed. */
export async function readPlace(
  database: ReadDatabase,
  chain: Chain,
  moment: PriceMoment,
  windowSeconds: number,
): Promise<{ readonly place: PricePlace | null; readonly indexed: Indexed }> {
  const { span, indexed } = await readSpan(database, chain, moment, windowSeconds);
  return { place: span && (await placeOf(database, chain, span)), indexed };
}

/** With the place `seconds` before. */
export async function readPlaces(
  database: ReadDatabase,
  chain: Chain,
  moment: PriceMoment,
  windowSeconds: number,
  seconds: number,
): Promise<Awaited<ReturnType<typeof readPlace>> & { readonly earlier: PricePlace | null }> {
  const { span, indexed } = await readSpan(database, chain, moment, windowSeconds);
  if (span === null) return { place: null, earlier: null, indexed };
  const [place, earlier] = await Promise.all([
    placeOf(database, chain, span),
    readPlace(database, chain, { of: 'time', time: span.time - seconds }, windowSeconds),
  ]);
  return { place, earlier: earlier.place, indexed };
}

type PlaceSpan = Omit<PricePlace, keyof AnchorPrices>;

async function placeOf(database: ReadDatabase, chain: Chain, span: PlaceSpan): Promise<PricePlace> {
  return { ...span, ...(await readAnchorPrices(database, chain, span)) };
}

async function readSpan(
  database: ReadDatabase,
  chain: Chain,
  moment: PriceMoment,
  windowSeconds: number,
): Promise<{ readonly span: PlaceSpan | null; readonly indexed: Indexed }> {
  const chainId = sql`${chain.id}::bigint`;
  const until = untilSql(moment);
  const span = { lowest: sql`${chain.firstBlock}::bigint`, highest: sql`at.block_number` };
  const block = moment.of === 'block' ? until : span.highest;
  const ctes = [
    coverage(chainId, STATES_DATASET),
    ...(moment.of === 'time' ? [toDateBound(chainId, until)] : []),
    sql`at AS MATERIALIZED (
  SELECT block_number, block_timestamp FROM blocks
  WHERE chain_id = ${chainId} AND block_number <= ${BOUNDS[moment.of](until)} ORDER BY block_number DESC LIMIT 1)`,
  ];
  const [row] = await database.select<
    IndexedColumns & { [Column in 'block' | 'time' | 'runStart' | 'windowStart']: number | null }
  >(
    sql`WITH ${joinSql(ctes)}
SELECT covered.indexed_from, covered.indexed_to, ${isComplete(span)} AS complete, at.block_number AS block,
  extract(epoch FROM at.block_timestamp)::float8 AS time,
  (SELECT max(first_block) FROM ranges WHERE first_block <= ${block} AND coalesce(previous_last < first_block - 1, true)
    AND EXISTS (SELECT FROM ranges AS own WHERE ${block} BETWEEN own.first_block AND own.last_block)) AS "runStart",
  coalesce((SELECT block_number FROM blocks WHERE chain_id = ${chainId} AND block_number <= at.block_number
    AND block_timestamp <= at.block_timestamp - make_interval(secs => ${windowSeconds}) ORDER BY block_number DESC LIMIT 1), -1) AS "windowStart"
FROM covered LEFT JOIN at ON true`,
  );
  const indexed = readIndexed(row);
  if (row === undefined) return { span: null, indexed };
  const { block: last, time, windowStart, runStart } = row;
  if (last === null || time === null || windowStart === null || runStart === null) return { span: null, indexed };
  return { span: { block: last, time, windowStart, runStart }, indexed };
}

function untilSql(moment: PriceMoment): Sql {
  switch (moment.of) {
    case 'block':
      return sql`${moment.block}::bigint`;
    case 'time':
      return sql`to_timestamp(${moment.time}::float8)`;
    case 'newest':
      return rawSql('');
  }
}

const NEWEST = sql`(SELECT indexed_to FROM covered)`;

const BOUNDS: Readonly<Record<PriceMoment['of'], (until: Sql) => Sql>> = {
  block: (until) => sql`least(${until}, ${NEWEST})`,
  time: () => sql`least((SELECT block FROM to_date), ${NEWEST})`,
  newest: () => NEWEST,
};
