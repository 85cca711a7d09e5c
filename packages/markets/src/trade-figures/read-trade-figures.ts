import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, multiplyFractions } from '@chainstead/core';
import { fromDateBound } from '@chainstead/data-api';
import { type Bind, hexBytes, hexText, type ReadDatabase, type Statement } from '@chainstead/db';
import { type AnchorBook, readAnchorBook } from '../anchors/anchor-steps.ts';
import { DOLLAR } from '../candles/candle.ts';
import { pairOf } from '../candles/price-trade.ts';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import { figuresOf, type TradeFigures, type ValuedTrade } from './trade-figures.ts';

/** A proven pool of two tokens. */
export interface FiguredPool {
  readonly pool: PoolId;
  readonly token0: Address;
  readonly token1: Address;
  /** Decimals of token 0 and token 1; null: unknown. */
  readonly decimals: readonly [number | null, number | null];
}

/** Unix seconds: start inclusive, end exclusive. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

export interface TradeFiguresQuery {
  readonly pools: readonly FiguredPool[];
  readonly spans: readonly TimeSpan[];
  /** Swaps of later blocks don't count. */
  readonly lastBlock: number;
}

/** Returns the figures of the trades of each pool in each span, in the order of the spans. */
export async function readTradeFigures(
  database: ReadDatabase,
  chain: Chain,
  { pools, spans, lastBlock }: TradeFiguresQuery,
): Promise<ReadonlyMap<PoolId, readonly TradeFigures[]>> {
  if (pools.length === 0 || spans.length === 0) return new Map();
  const from = Math.min(...spans.map((span) => span.from));
  const { text, values } = tradesStatement(
    chain,
    pools.map(({ pool }) => pool),
    from,
    lastBlock,
  );
  const rows = await database.select<TradeRow>(text, values);
  const anchors = await readAnchorBook(database, chain, new Set(pools.flatMap(tokensOf)), rows);
  const rowsOf = Map.groupBy(rows, ({ pool }) => pool);
  return new Map(
    pools.map((pool) => {
      const valued = (rowsOf.get(pool.pool) ?? []).map((row) => ({
        time: row.time,
        ...valueTrade(row, pool, chain, anchors),
      }));
      return [pool.pool, spans.map((span) => figuresOf(valued.filter(({ time }) => isIn(time, span))))];
    }),
  );
}

interface TradeRow {
  readonly pool: PoolId;
  readonly block: number;
  readonly time: number;
  readonly amount0: string;
  readonly amount1: string;
  readonly wallet: Address;
}

/** One range of the primary key of `swaps` for each pool. */
function tradesStatement(chain: Chain, pools: readonly PoolId[], from: number, lastBlock: number): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const ofPools = `pool_key = ANY (${bind(pools.map(poolKey))}::bigint[]) AND pool = ANY (${bind(pools.map(hexBytes))}::bytea[])`;
  const found = `SELECT pool, block_number, amount0, amount1, wallet FROM swaps
    WHERE ${ofPools} AND chain_id = ${chainId} AND block_number >= (SELECT block FROM from_date) AND block_number <= ${bind(lastBlock)}::bigint
      AND kind = 0 AND amount0 IS NOT NULL AND amount1 IS NOT NULL`;
  return {
    text: `WITH ${fromDateBound(chainId, `to_timestamp(${bind(from)}::float8)`)}, found AS MATERIALIZED (${found})
SELECT ${hexText('found.pool')} AS pool, found.block_number AS block, extract(epoch FROM block.block_timestamp)::float8 AS time,
  amount0::text, amount1::text, ${hexText('found.wallet')} AS wallet
FROM found JOIN blocks AS block ON block.chain_id = ${chainId} AND block.block_number = found.block_number`,
    values,
  };
}

/** Values a swap by its anchor: the quote token, or the base token if that has no price. */
function valueTrade(
  row: TradeRow,
  { token0, token1, decimals }: FiguredPool,
  chain: Chain,
  anchors: AnchorBook,
): ValuedTrade {
  const { amount0, amount1, wallet } = row;
  const { isQuotedIn0, base, quote } = pairOf(token0, token1, chain);
  const sides = [
    { amount: BigInt(amount0), decimals: decimals[0] },
    { amount: BigInt(amount1), decimals: decimals[1] },
  ] as const;
  const [ofBase, ofQuote] = isQuotedIn0 ? [sides[1], sides[0]] : [sides[0], sides[1]];
  const quotePrice = anchors(quote, row);
  const [anchor, price] = quotePrice === null ? [ofBase, anchors(base, row)] : [ofQuote, quotePrice];
  const isKnown = !anchors.isPending(quote, row) && price !== null && anchor.decimals !== null;
  return {
    isBuy: ofBase.amount < 0n,
    wallet,
    value: isKnown ? dollarsOf(anchor.amount, anchor.decimals, price) : null,
  };
}

/** Units of `DOLLAR`, rounded half up. @param amount base units, with any sign */
function dollarsOf(amount: bigint, decimals: number, price: Fraction): bigint {
  const whole = { numerator: amount < 0n ? -amount : amount, denominator: 10n ** BigInt(decimals) };
  const { numerator, denominator } = multiplyFractions(whole, price);
  return (2n * numerator * DOLLAR + denominator) / (2n * denominator);
}

function tokensOf({ token0, token1 }: FiguredPool): readonly Address[] {
  return [token0, token1];
}

function isIn(time: number, { from, to }: TimeSpan): boolean {
  return time >= from && time < to;
}
