import type { Chain } from '@chainstead/chains';
import { type Address, addFractions, type Fraction, multiplyFractions } from '@chainstead/core';
import { addressBytes, hexText, joinSql, type ReadDatabase, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import {
  DOLLAR,
  type FiguredPool,
  formsOf,
  type PoolGroup,
  pairOf,
  SWAPS_DATASET,
  type TimeSpan,
  type TradeSums,
} from '@chainstead/markets/requests';
import { type Indexed, readBlockRuns } from '@chainstead/pages';
import { readTokenStates, type TokenState } from '../../token-markets/token-state.ts';
import { readTradedPools } from '../../token-markets/traded-pools.ts';
import { readPlace } from '../../token-price/place/price-place.ts';
import type { PriceSources } from '../../token-price/read/prices-with-balances.ts';
import { readFigures, readFiguresIfSummed } from '../pools/stored-pools.ts';

export interface TokenSpans {
  readonly now: TokenState;
  readonly figures: readonly (TradeSums | null)[];
  /** In the order of the moments. Null: not indexed. */
  readonly states: readonly (TokenState | null)[];
  readonly indexed: Indexed;
}

export interface WantedTimes {
  readonly spans: readonly TimeSpan[];
  readonly moments: readonly number[];
}

interface FigureOptions {
  /** @default true */
  readonly countsTraders?: boolean;
  /** Spans are aligned to UTC. Others end at the newest block. @default false */
  readonly isAligned?: boolean;
  /** Figures of too many swaps are null, instead of an error. @default false */
  readonly mayMiss?: boolean;
}

/** @throws {SwapsNotSummedError} if figures take too many swaps */
export async function readTokenSpans(
  sources: PriceSources,
  chain: Chain,
  tokens: readonly Address[],
  timesOf: (newest: number) => WantedTimes,
  options: FigureOptions = {},
): Promise<{ readonly time: number | null; readonly tokens: ReadonlyMap<Address, TokenSpans> }> {
  const { reads } = sources;
  const { place, indexed } = await readPlace(reads, chain, { of: 'newest' }, chain.pricing.windowSeconds);
  if (place === null) return { time: null, tokens: new Map() };
  const { time } = place;
  const now = await readTokenStates(sources, chain, tokens, place);
  const pools = await readTradedPools(reads, chain, now);
  const priced = [...now].filter(([token, { usd }]) => usd !== null || pools.has(token));
  if (priced.length === 0) return { time, tokens: new Map() };
  const names = priced.map(([token]) => token);
  const { spans, moments } = timesOf(time);
  const groups = names.map((token) => poolsOfToken(token, pools.get(token) ?? [], chain));
  const { countsTraders = true, isAligned = false, mayMiss = false } = options;
  const query = { groups, spans, lastBlock: place.block, time, isAligned, countsTraders };
  const figures = mayMiss
    ? await readFiguresIfSummed({ ...sources, contracts: null }, chain, query)
    : await readFigures(sources, chain, query);
  const states: ReadonlyMap<Address, TokenState>[] = [];
  for (const moment of moments)
    states.push(moment >= time ? now : await readPastStates(sources, chain, names, moment));
  const since = await readSwapsSince(reads, chain, place.block);
  const undecided = await readUndecided(reads, chain, names);
  const isCovered = spans.map(({ from }) => since !== null && since < from);
  const isComplete = indexed.complete && isCovered.every(Boolean);
  const found = new Map<Address, TokenSpans>();
  for (const [token, state] of priced) {
    const ofToken = figures?.get(token) ?? [];
    found.set(token, {
      now: state,
      figures: spans.map((_, at) => (isCovered[at] === true ? (ofToken[at] ?? null) : null)),
      states: states.map((ofMoment) => ofMoment.get(token) ?? null),
      indexed: { ...indexed, complete: isComplete && !undecided.has(token) && state.isFinal },
    });
  }
  return { time, tokens: found };
}

/** Contracts are not read: past balances follow from the newest. */
async function readPastStates(sources: PriceSources, chain: Chain, tokens: readonly Address[], time: number) {
  const { windowSeconds } = chain.pricing;
  const { place } = await readPlace(sources.reads, chain, { of: 'time', time }, windowSeconds);
  return place === null ? new Map() : readTokenStates({ ...sources, contracts: null }, chain, tokens, place);
}

/** Unix seconds. `-Infinity`: since the first block. Null: swaps of the block are not indexed. */
async function readSwapsSince(database: ReadDatabase, chain: Chain, block: number): Promise<number | null> {
  const run = (await readBlockRuns(database, chain.id, [SWAPS_DATASET], block)).get(SWAPS_DATASET);
  if (run === undefined) return null;
  if (run.firstBlock <= chain.firstBlock) return Number.NEGATIVE_INFINITY;
  const [row] = await database.select<{ time: number }>(
    sql`SELECT extract(epoch FROM block_timestamp)::float8 AS time FROM blocks
     WHERE chain_id = ${chain.id}::bigint AND block_number >= ${run.firstBlock}::bigint ORDER BY block_number LIMIT 1`,
  );
  return row?.time ?? null;
}

async function readUndecided(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const forms = [...new Set(tokens.flatMap((token) => formsOf(token, chain)))];
  const chainId = sql`${chain.id}::bigint`;
  const [keys, wanted] = [sql`${forms.map(addressKey)}::bigint[]`, sql`${forms.map(addressBytes)}::bytea[]`];
  const ranges = [sql`token0`, sql`token1`].flatMap((side) => [
    sql`(SELECT DISTINCT ${hexText(side)} AS token FROM pools WHERE address_key(${side}) = ANY (${keys}) AND chain_id = ${chainId}
        AND status = 'unproven' AND ${side} = ANY (${wanted}))`,
    sql`(SELECT NULL AS token FROM pools WHERE address_key(${side}) IS NULL AND chain_id = ${chainId} AND status = 'unproven' LIMIT 1)`,
  ]);
  const rows = await database.select<{ token: Address | null }>(joinSql(ranges, ' UNION ALL '));
  const found = new Set(rows.map(({ token }) => token));
  return new Set(
    tokens.filter((token) => found.has(null) || formsOf(token, chain).some((form) => found.has(form))),
  );
}

/** A purchase is one of this token, also where it is the quote token. */
function poolsOfToken(token: Address, pools: readonly FiguredPool[], chain: Chain): PoolGroup {
  const forms = formsOf(token, chain);
  const isReversed = ({ token0, token1 }: FiguredPool) => !forms.includes(pairOf(token0, token1, chain).base);
  return { key: token, pools: pools.map((pool) => ({ pool, isReversed: isReversed(pool) })) };
}

/** US dollars; null: unknown. */
export function volumeOf({ buyVolume, sellVolume }: TradeSums): Fraction | null {
  const [bought, sold] = [inDollars(buyVolume), inDollars(sellVolume)];
  return bought === null || sold === null ? null : addFractions(bought, sold);
}

export function inDollars(volume: bigint | null): Fraction | null {
  return volume === null ? null : { numerator: volume, denominator: DOLLAR };
}

/** US dollars; null: one is unknown, or the product is implausible (contract 3.5). */
export function dilutedValuation(usd: Fraction | null, supply: TokenSupply | undefined): Fraction | null {
  if (usd === null || supply === undefined) return null;
  const value = multiplyFractions(usd, { numerator: supply.units, denominator: 10n ** BigInt(supply.decimals) });
  return value.numerator > VALUATION_MAX * value.denominator ? null : value;
}

export interface TokenSupply {
  readonly units: bigint;
  readonly decimals: number;
}

const VALUATION_MAX = 10n ** 13n;
