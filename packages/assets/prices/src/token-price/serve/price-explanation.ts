import type { PricingRules } from '@chainstead/chains/pricing-rules';
import { cents, nearestNumber, roundedUnits, wholeFraction } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { hopRules, newest, type PriceDecision } from '../decide/decide-price.ts';
import { type AnchorPrice, anchorPrices } from '../place/anchor-prices.ts';
import type { PricePlace } from '../place/price-place.ts';
import { costOfPrice } from '../read/price-cost.ts';
import type { HopPrice, PricedPool, TokenPrice } from '../read/token-price.ts';
import { type StateSince, virtualReserves } from '../states/side-depths.ts';
import { plainDecimal } from './shown-values.ts';

const text = (description: string) => z.string().nullable().openapi({ description });

// A verifier computes with numbers of anyone's document: each has a bound.
const time = (description: string) => z.number().min(0).max(TIME_MAX).openapi({ description });
const figure = (description: string) => z.number().min(0).max(FIGURE_MAX).openapi({ description });
const place = (description: string) => z.int().min(0).nullable().openapi({ description });

const TIME_MAX = 8_640_000_000_000;
const FIGURE_MAX = 1e15;
/** uint8. */
const DECIMALS_MAX = 255;
const STATES_MAX = 100_000;
const POOLS_MAX = 10_000;
const TOKENS_MAX = 1_000;

/** Liquidity Book: 24 bits for bins, 16 for steps. */
const BINS = 2 ** 24;
const BIN_STEP_MAX = 2 ** 16 - 1;

const sideSchema = z
  .object({
    token_address: z.string().openapi({ description: 'Token of the side' }),
    decimals: z.int().min(0).max(DECIMALS_MAX).openapi({ description: 'Decimals of the token' }),
    balance: text(
      'Base units that the pool holds. Liquidity Book: in bins up to 10 % away from the price. null: unknown, and counted as zero',
    ),
    virtual_reserve: text(
      'Base units of the reserve with the same price and slippage, rounded. Depth is the smaller of both. null: Liquidity Book, where depth is the balance',
    ),
  })
  .openapi('PriceCandidateSide', { description: 'One token of a pool, at the block of the price' });

const stateSchema = z
  .object({
    block: z.string().openapi({ description: 'First block of the state' }),
    time: time('Time of that block, in seconds since 1970'),
    reserve0: text('Base units of token 0. null: not a pool with reserves'),
    reserve1: text('Base units of token 1. null: not a pool with reserves'),
    sqrt_price_x96: text('Square root of the price times 2^96. null: not a concentrated pool'),
    liquidity: text('Liquidity in range. null: not a concentrated pool'),
    active_bin: z
      .int()
      .min(0)
      .lt(BINS)
      .nullable()
      .openapi({ description: 'Bin of the price. null: not a Liquidity Book pair' }),
    balance0: text('Base units of token 0 that the pool holds, as in sides. null: unknown'),
    balance1: text('Base units of token 1 that the pool holds, as in sides. null: unknown'),
  })
  .openapi('PoolStateSince', { description: 'State of a pool until the next one' });

const candidateSchema = z
  .object({
    pair_address: z.string().openapi({ description: 'Address of the pool' }),
    exchange_name: z.string().openapi({ description: 'Name of the exchange' }),
    role: z.enum(['chosen', 'counted', 'too-shallow', 'too-young', 'not-among-deepest']).openapi({
      description: 'Role of the pool in the decision',
    }),
    price_usd: z.string().openapi({ description: 'Price of the token in this pool, by its newest state' }),
    weight_usd: z.string().openapi({
      description:
        'Smaller of the current depth and its median over the window, on the side of the known token. Less if little of the past is known',
    }),
    is_stable: z.boolean().nullable().openapi({ description: 'Whether it has the curve of stable pairs' }),
    bin_step: z.int().min(1).max(BIN_STEP_MAX).nullable().openapi({
      description: 'Basis points between the prices of two bins. null: not a Liquidity Book pair',
    }),
    created_time: time(
      'Time of the creation, or of the first event on chain, in seconds since 1970. null: unknown, so the pool is not young',
    ).nullable(),
    reading_block: text('Block at whose end contract calls read the first state. null: an event reported it'),
    sides: z.array(sideSchema).max(2).openapi({ description: 'Both tokens of the pool' }),
    states: z.array(stateSchema).max(STATES_MAX).openapi({
      description: 'States of the window, oldest first: the first one is from before the window, if there is one',
    }),
  })
  .openapi('PriceCandidate', { description: 'A pool that was considered' });

const anchorSchema = z
  .object({
    token_address: z.string().openapi({ description: 'Token. The zero address is the native token' }),
    price_usd: z.string().openapi({ description: 'Price in US dollars' }),
    price_numerator: z.string().openapi({ description: 'Numerator of the exact price' }),
    price_denominator: z.string().openapi({ description: 'Denominator of the exact price' }),
    source: z.enum(['feed', 'pool', 'assumed']).openapi({
      description:
        'feed: the last value of its price feed. pool: a pool of ether and dollars. assumed: 1 US dollar',
    }),
    feed: text('Proxy of the price feed'),
    aggregator: text('Aggregator of the value'),
    round: text('Round of the aggregator'),
    block: text('Block of the log that set the value, or at whose end the feed was read'),
    transaction_index: place('Index of the transaction of the log. null: the feed was read'),
    log_index: place('Index of the log. null: the feed was read'),
  })
  .openapi('AnchorPrice', {
    description: 'Price of an anchor. Fields about the feed are null for other sources',
  });

const rulesSchema = z
  .object({
    min_side_usd: figure('US dollars that each side of a pool must hold'),
    window_seconds: z.int().min(0).openapi({ description: 'Length of the window' }),
    jump_limit: figure('Factor between price and median above which a price has to hold'),
    hold_seconds: z.int().min(0).openapi({ description: 'Seconds for which such a price has to hold' }),
    pools_max: z.int().min(0).openapi({ description: 'Number of deepest pools that count' }),
    hop_min_usd: figure('US dollars on the side of anchors that the pools of a hop must hold'),
    hop_jump_limit: figure('jump_limit of each of the two steps, for a price through a hop'),
  })
  .openapi('PriceRules', { description: 'Figures of the method' });

const hopSchema = z
  .object({
    token_address: z.string().openapi({ description: 'Token with a direct price' }),
    price_usd: z.string().openapi({ description: 'Price in US dollars' }),
    price_numerator: z.string().openapi({ description: 'Numerator of the exact price' }),
    price_denominator: z.string().openapi({ description: 'Denominator of the exact price' }),
    depth_usd: z
      .string()
      .openapi({ description: 'US dollars on the side of anchors, of the pools that have a say' }),
    rule: z.enum(['spot', 'median']).openapi({ description: 'As for the price itself' }),
    candidates: z
      .array(candidateSchema)
      .max(POOLS_MAX)
      .openapi({ description: 'Considered pools against anchors' }),
  })
  .openapi('PriceHop', { description: 'A token that pools are priced with' });

export const explanationSchema = z
  .object({
    block: z.string().openapi({ description: 'Block of the price' }),
    time: time('Time of that block, in seconds since 1970'),
    rule: z.enum(['anchor', 'spot', 'median']).openapi({
      description:
        'anchor: the price of the anchor itself. spot: newest state of the chosen pool. median: its median over the window',
    }),
    price_numerator: z.string().openapi({ description: 'Numerator of the exact price in US dollars' }),
    price_denominator: z.string().openapi({ description: 'Denominator of the exact price' }),
    median_usd: text('Median price of the chosen pool over the window. null for an anchor'),
    held_seconds: time(
      'Seconds for which the price has stayed near its newest value. null for an anchor',
    ).nullable(),
    move_cost_usd: text(
      'US dollars that raise the price by 10 %, in the cheapest pools with half of the weight. null for an anchor',
    ),
    is_move_cost_upper_bound: z.boolean().openapi({
      description: 'Whether the cost may be lower: liquidity out of the current range is not counted',
    }),
    ether_usd: text('Ether price. null if unknown'),
    rules: rulesSchema,
    anchors: z
      .array(anchorSchema)
      .max(TOKENS_MAX)
      .openapi({ description: 'Prices of the tokens that pools are priced with' }),
    hops: z.array(hopSchema).max(TOKENS_MAX).openapi({
      description: 'Tokens that the candidates are priced with, if the price has a hop. Empty: with anchors',
    }),
    candidates: z.array(candidateSchema).max(POOLS_MAX).openapi({ description: 'Considered pools' }),
  })
  .openapi('PriceExplanation', { description: 'How the price was decided. Only with explain=true' });

export type PriceExplanation = z.infer<typeof explanationSchema>;

export interface ExplainedPrice {
  readonly price: Exclude<TokenPrice, { of: 'nothing' }>;
  readonly place: PricePlace;
  readonly rules: PricingRules;
}

export function explainPrice({ price, place, rules }: ExplainedPrice): PriceExplanation {
  const { usd } = price;
  const common = {
    block: String(place.block),
    time: place.time,
    price_numerator: usd.numerator.toString(),
    price_denominator: usd.denominator.toString(),
    ether_usd: place.ether === null ? null : plainDecimal(place.ether),
    rules: showRules(rules),
    anchors: place.anchors.map(showAnchor),
  };
  if (price.of === 'anchor')
    return {
      ...common,
      ...{ rule: 'anchor', median_usd: null, held_seconds: null, move_cost_usd: null },
      ...NO_POOLS,
    };
  const { rule, median, heldSeconds } = price.decision;
  const cost = costOfPrice(price, anchorPrices(place));
  return {
    ...common,
    rule,
    median_usd: plainDecimal(median),
    held_seconds: heldSeconds,
    move_cost_usd: cost === null ? null : cents(cost.usd),
    is_move_cost_upper_bound: cost?.isUpperBound ?? false,
    hops: price.hops.map(showHop),
    candidates: showCandidates(price),
  };
}

function showHop({ token, price, depth }: HopPrice): z.infer<typeof hopSchema> {
  return {
    token_address: token,
    price_usd: plainDecimal(price.usd),
    price_numerator: price.usd.numerator.toString(),
    price_denominator: price.usd.denominator.toString(),
    depth_usd: cents(depth),
    rule: price.decision.rule,
    candidates: showCandidates(price),
  };
}

export function showCandidates(considered: {
  readonly decision: Pick<PriceDecision, 'candidates'>;
  readonly pools: readonly PricedPool[];
}): z.infer<typeof candidateSchema>[] {
  const byId = new Map<string, PricedPool>(considered.pools.map((pool) => [pool.history.pool, pool]));
  return considered.decision.candidates.flatMap(({ pool, role, weight }) => {
    const known = byId.get(pool);
    if (known === undefined) return [];
    const { history, candidate } = known;
    return {
      pair_address: pool,
      exchange_name: history.exchange,
      role,
      price_usd: plainDecimal(newest(candidate.price)),
      weight_usd: cents(weight),
      is_stable: history.isStable,
      bin_step: history.states[0]?.state.of === 'bin' ? history.tickSpacing : null,
      created_time: history.createdAt,
      reading_block: history.readAt === null ? null : String(history.readAt),
      sides: showSides(known),
      states: history.states.map(showStateSince),
    };
  });
}

const NO_POOLS = { is_move_cost_upper_bound: false, hops: [], candidates: [] };

export function showRules(rules: PricingRules): PriceExplanation['rules'] {
  return {
    min_side_usd: nearestNumber(rules.minSideDepth),
    window_seconds: rules.windowSeconds,
    jump_limit: nearestNumber(rules.jumpLimit),
    hold_seconds: rules.holdSeconds,
    pools_max: rules.poolsMax,
    hop_min_usd: nearestNumber(rules.hopMinDepth),
    hop_jump_limit: nearestNumber(hopRules(rules).jumpLimit),
  };
}

function showAnchor({ token, usd, source }: AnchorPrice): z.infer<typeof anchorSchema> {
  const feed = source.of === 'feed' ? source : null;
  return {
    token_address: token,
    price_usd: plainDecimal(usd),
    price_numerator: usd.numerator.toString(),
    price_denominator: usd.denominator.toString(),
    source: source.of,
    feed: feed?.proxy ?? null,
    aggregator: feed?.aggregator ?? null,
    round: feed?.round ?? null,
    block: feed === null ? null : String(feed.block),
    transaction_index: feed?.log?.transactionIndex ?? null,
    log_index: feed?.log?.logIndex ?? null,
  };
}

function showSides({ history: { token0, token1, states }, decimals }: PricedPool): z.infer<typeof sideSchema>[] {
  const last = states.at(-1);
  if (last === undefined) return [];
  const reserves = virtualReserves(last.state);
  return [token0, token1].map((token, side) => ({
    token_address: token,
    decimals: decimals[side] ?? 0,
    balance: last.balances[side]?.toString() ?? null,
    virtual_reserve:
      last.state.of === 'bin' ? null : roundedUnits(reserves[side] ?? wholeFraction(0n), 1n).toString(),
  }));
}

function showStateSince({ block, since, state, balances: [balance0, balance1] }: StateSince) {
  return {
    block: String(block),
    time: since,
    ...showState(state),
    balance0: balance0?.toString() ?? null,
    balance1: balance1?.toString() ?? null,
  };
}

export function showState(state: StateSince['state']) {
  const reserves = state.of === 'reserves' ? state : null;
  const concentrated = state.of === 'price' ? state : null;
  return {
    reserve0: reserves?.reserve0.toString() ?? null,
    reserve1: reserves?.reserve1.toString() ?? null,
    sqrt_price_x96: concentrated?.sqrtPriceX96.toString() ?? null,
    liquidity: concentrated?.liquidity.toString() ?? null,
    active_bin: state.of === 'bin' ? state.activeId : null,
  };
}
