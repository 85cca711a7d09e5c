import { addFractions, type Fraction, invertFraction, multiplyFractions, nearestNumber } from '@chainstead/core';
import type { PageEnvelope } from '@chainstead/http';
import { DOLLAR, pairLabel } from '@chainstead/markets/requests';
import { type Indexed, indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { changeBetween } from '../../token-price/serve/shown-values.ts';
import type { ListedPair, RankedPool } from './token-pairs.ts';

const text = (description: string) => z.string().nullable().openapi({ description });
const number = (description: string) => z.number().nullable().openapi({ description });
const address = (description: string) => z.string().openapi({ pattern: '^0x[0-9a-f]{40}$', description });

const pairedTokenSchema = z
  .object({
    token_address: address('Token contract. The wrapped native token stands for the native token'),
    token_name: text('Name of the token'),
    token_symbol: text('Symbol of the token'),
    token_logo: text('Logo from an imported token list'),
    token_decimals: text('Decimals of the token'),
    pair_token_type: z.enum(['token0', 'token1']).openapi({ description: 'Place of the token in the pool' }),
    liquidity_usd: number('US dollars of the token in the pool. null: unknown'),
  })
  .openapi('PairedToken');

const tokenPairSchema = z
  .object({
    exchange_name: text('Name of the exchange'),
    exchange_address: address('')
      .nullable()
      .openapi({ description: 'Factory, vault or pool manager of the exchange' }),
    exchange_logo: text('Always null: not available'),
    pair_address: z.string().openapi({
      pattern: '^0x([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{104})$',
      description: 'Address of the pool. Uniswap v4 and other pool managers: the 32-byte pool id',
    }),
    pair_label: text('Symbols of base and quote token. null until both are known'),
    usd_price: number('US dollars per whole base token in this pool. null: unknown'),
    usd_price_24hr: number('The same 24 hours before. null: unknown'),
    usd_price_24hr_percent_change: number('Change since then, in percent. null: unknown'),
    usd_price_24hr_usd_change: number('Change since then, in US dollars. null: unknown'),
    liquidity_usd: number(
      'US dollars on both sides of the pool. 0 if liquidity_skew is below 0.005. null: unknown',
    ),
    liquidity_skew: number('1: both sides are worth the same. 0: one is empty. null: unknown'),
    inactive_pair: z.boolean().openapi({ description: 'Whether the pool had no swap in the last 24 hours' }),
    base_token: address('Base token of the pool'),
    quote_token: address('Quote token of the pool'),
    volume_24h_native: number('Swaps of the last 24 hours in native tokens, at its newest price. null: unknown'),
    volume_24h_usd: number('Swaps of the last 24 hours in US dollars. null: unknown'),
    pair: z.array(pairedTokenSchema).length(2).openapi({ description: 'Token 0 and token 1' }),
  })
  .openapi('TokenPair');

/** docs/api/market-statistics.md#pairs-of-a-token */
export const tokenPairsSchema = z
  .object({
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    page_size: z.int().min(1).openapi({ description: 'Maximum number of pairs on the page' }),
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    indexed: indexedSchema,
    pairs: z.array(tokenPairSchema).openapi({ description: 'Pools, the deepest first' }),
  })
  .openapi('TokenPairs');

/** docs/api/market-statistics.md#totals-of-a-token */
export const aggregatedPairStatsSchema = z
  .object({
    total_liquidity_usd: z.number().openapi({ description: 'US dollars in the pools of known liquidity' }),
    total_active_pairs: z.int().openapi({ description: 'Number of pools with a swap in the last 24 hours' }),
    total_active_dexes: z.int().openapi({ description: 'Number of exchanges of these pools' }),
    indexed: indexedSchema,
  })
  .openapi('AggregatedTokenPairStats', { description: 'Totals over the pools of a token' });

export interface ShownPairs {
  readonly pairs: readonly ListedPair[];
  /** US dollars per native token; null: unknown. */
  readonly native: Fraction | null;
  readonly indexed: Indexed;
}

export function showTokenPairs(
  { pairs, native, indexed }: ShownPairs,
  { cursor, page_size, page }: PageEnvelope,
): z.infer<typeof tokenPairsSchema> {
  return {
    ...{ cursor, page_size, page },
    indexed: showIndexed(indexed),
    pairs: pairs.map((pair) => showPair(pair, native)),
  };
}

/** `active`: with a swap in the last 24 hours. */
export function showAggregatedStats(
  pools: readonly RankedPool[],
  active: ReadonlySet<string>,
  indexed: Indexed,
): z.infer<typeof aggregatedPairStatsSchema> {
  const zero: Fraction = { numerator: 0n, denominator: 1n };
  const total = pools.reduce((sum, { values }) => addFractions(sum, values.liquidity ?? zero), zero);
  const moved = pools.filter(({ pool }) => active.has(pool.pool));
  return {
    total_liquidity_usd: nearestNumber(total),
    total_active_pairs: moved.length,
    total_active_dexes: new Set(moved.map(({ pool }) => pool.exchange)).size,
    indexed: showIndexed(indexed),
  };
}

function showPair({ pool, values, before, trades }: ListedPair, native: Fraction | null) {
  const { base, quote, baseSide } = pool;
  const [price, earlier] = [values.usd[baseSide], before?.usd[baseSide] ?? null];
  const change = price === null || earlier === null ? null : changeBetween(earlier, price);
  const { buyVolume, sellVolume } = trades;
  const volume =
    buyVolume === null || sellVolume === null ? null : { numerator: buyVolume + sellVolume, denominator: DOLLAR };
  return {
    exchange_name: pool.exchange,
    exchange_address: pool.factory,
    exchange_logo: null,
    pair_address: pool.pool,
    pair_label: pairLabel(base, quote),
    usd_price: shown(price),
    usd_price_24hr: shown(earlier),
    usd_price_24hr_percent_change: change?.percent ?? null,
    usd_price_24hr_usd_change: change?.dollars ?? null,
    liquidity_usd: shown(values.liquidity),
    liquidity_skew: shown(values.skew),
    inactive_pair: trades.buys + trades.sells === 0,
    base_token: base.address,
    quote_token: quote.address,
    volume_24h_native:
      volume === null || native === null || native.numerator === 0n
        ? null
        : shown(multiplyFractions(volume, invertFraction(native))),
    volume_24h_usd: shown(volume),
    pair: ([0, 1] as const).map((side) => {
      const { address: token, name, symbol, logo, decimals } = pool.tokens[side];
      return {
        ...{ token_address: token, token_name: name, token_symbol: symbol, token_logo: logo },
        token_decimals: decimals === null ? null : String(decimals),
        pair_token_type: side === 0 ? ('token0' as const) : ('token1' as const),
        liquidity_usd: shown(values.sides[side]),
      };
    }),
  };
}

function shown(value: Fraction | null): number | null {
  return value === null ? null : nearestNumber(value);
}
