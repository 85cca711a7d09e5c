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
  const { span, indexed } = await readSpans(database, chain, moment, windowSeconds, null);
  return { place: span && (await placeOf(database, chain, span)), indexed };
}

/** With the place `seconds` before. */
export async function readPlaces(
  database: ReadDatabase,
  chain: Chain,
  moment: Exclude<PriceMoment, { of: 'time' }>,
  windowSeconds: number,
  seconds: number,
): Promise<Record<'place' | 'earlier', PricePlace | null> & { readonly indexed: Indexed }> {
  const { span, earlier, indexed } = await readSpans(database, chain, moment, windowSeconds, seconds);
  const places = [span, earlier].map((one) => one && placeOf(database, chain, one));
  const [place = null, earlierPlace = null] = await Promise.all(places);
  return { place, earlier: place && earlierPlace, indexed };
}

type PlaceSpan = Omit<PricePlace, keyof AnchorPrices>;

async function placeOf(database: ReadDatabase, chain: Chain, span: PlaceSpan): Promise<PricePlace> {
  return { ...span, ...(await readAnchorPrices(database, chain, span)) };
}

type SpanColumns = Readonly<Record<keyof PlaceSpan, number | null>>;

/** @param seconds from the moment back to the earlier span; null: none */
async function readSpans(
  database: ReadDatabase,
  chain: Chain,
  moment: PriceMoment,
  windowSeconds: number,
  seconds: number | null,
): Promise<Record<'span' | 'earlier', PlaceSpan | null> & { readonly indexed: Indexed }> {
  const chainId = sql`${chain.id}::bigint`;
  const until = untilSql(moment);
  const ofTime = moment.of === 'time' ? until : null;
  const before = sql`(SELECT block_timestamp FROM at) - make_interval(secs => ${seconds})`;
  const block = moment.of === 'block' ? until : sql`at.block_number`;
  const lastBlock = (name: Sql, bound: Sql) => sql`${name} AS MATERIALIZED (
  SELECT block_number, block_timestamp FROM blocks
  WHERE chain_id = ${chainId} AND block_number <= ${bound} ORDER BY block_number DESC LIMIT 1)`;
  const ctes = [
    coverage(chainId, STATES_DATASET),
    ...(ofTime === null ? [] : [toDateBound(chainId, ofTime)]),
    lastBlock(AT, BOUNDS[moment.of](until)),
    ...(seconds === null ? [] : [toDateBound(chainId, before), lastBlock(EARLIER, BOUNDS.time(until))]),
  ];
  const columnsOf = (
    at: Sql,
    last: Sql,
  ) => sql`(SELECT json_build_object('block', ${at}.block_number, 'time', extract(epoch FROM ${at}.block_timestamp),
  'runStart', (SELECT max(first_block) FROM ranges WHERE first_block <= ${last} AND coalesce(previous_last < first_block - 1, true)
    AND EXISTS (SELECT FROM ranges AS own WHERE ${last} BETWEEN own.first_block AND own.last_block)),
  'windowStart', coalesce((SELECT block_number FROM blocks WHERE chain_id = ${chainId} AND block_number <= ${at}.block_number
    AND block_timestamp <= ${at}.block_timestamp - make_interval(secs => ${windowSeconds}) ORDER BY block_number DESC LIMIT 1), -1)) FROM ${at})`;
  const span = { lowest: sql`${chain.firstBlock}::bigint`, highest: sql`at.block_number` };
  const [row] = await database.select<
    IndexedColumns & { readonly span: SpanColumns | null; readonly earlier: SpanColumns | null }
  >(
    sql`WITH ${joinSql(ctes)}
SELECT covered.indexed_from, covered.indexed_to, ${isComplete(span)} AS complete, ${columnsOf(AT, block)} AS span,
  ${seconds === null ? rawSql('NULL::json') : columnsOf(EARLIER, sql`earlier.block_number`)} AS earlier
FROM covered LEFT JOIN at ON true`,
  );
  return { span: spanOf(row?.span), earlier: spanOf(row?.earlier), indexed: readIndexed(row) };
}

const AT = sql`at`;
const EARLIER = sql`earlier`;

function spanOf(columns: SpanColumns | null | undefined): PlaceSpan | null {
  if (columns === null || columns === undefined) return null;
  const { block, time, runStart, windowStart } = columns;
  if (block === null || time === null || runStart === null || windowStart === null) return null;
  return { block, time, runStart, windowStart };
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
