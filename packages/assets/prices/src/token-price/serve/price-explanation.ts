import type { PricingRules } from '@chainstead/chains/pricing-rules';
import { cents, type Fraction, nearestNumber, roundedUnits, wholeFraction } from '@chainstead/core';
import { each, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { hopRules, type JudgedCandidate, newest, type PriceDecision } from '../decide/decide-price.ts';
import { type AnchorPrice, anchorPrices } from '../place/anchor-prices.ts';
import type { PricePlace } from '../place/price-place.ts';
import { costOfPrice } from '../read/price-cost.ts';
import type { HopPrice, PricedPool, TokenPrice } from '../read/token-price.ts';
import { type StateSince, virtualReserves } from '../states/side-depths.ts';
import { dollars, plain, plainDecimal } from './shown-values.ts';

// A verifier computes with numbers of anyone's document: each has a bound.
const TIME = z.number().min(0).max(8_640_000_000_000);
const STATES_MAX = 100_000;
const POOLS_MAX = 10_000;
const TOKENS_MAX = 1_000;

const { count, flag, numeral, text } = wire;
const time = wire.wire(TIME);
const bounded = wire.wire(z.number().min(0).max(1e15), nearestNumber);
/** uint8. */
const decimals = wire.wire(z.int().min(0).max(255));
/** Liquidity Book: 24 bits for bins, 16 for steps. */
const bin = wire.wire(
  z
    .int()
    .min(0)
    .lt(2 ** 24),
);
const binStep = wire.wire(
  z
    .int()
    .min(1)
    .max(2 ** 16 - 1),
);
const role = wire.wire(z.enum(['chosen', 'counted', 'too-shallow', 'too-young', 'not-among-deepest']));
const anchorSource = wire.wire(z.enum(['feed', 'pool', 'assumed']));
const rule = wire.wire(z.enum(['spot', 'median']));

interface CandidateSide {
  readonly token: string;
  readonly decimals: number;
  readonly balance: bigint | null;
  /** Null: a Liquidity Book pair. */
  readonly reserve: Fraction | null;
}

const sideView = view(
  { name: 'PriceCandidateSide', description: 'One token of a pool, at the block of the price' },
  (side: CandidateSide) => side,
  {
    token_address: text('Token of the side', ({ token }) => token),
    decimals: decimals('Decimals of the token'),
    balance: numeral.orNull(
      'Base units that the pool holds. Liquidity Book: in bins up to 10 % away from the price. null: unknown, and counted as zero',
    ),
    virtual_reserve: numeral.orNull(
      'Base units of the reserve with the same price and slippage, rounded. Depth is the smaller of both. null: Liquidity Book, where depth is the balance',
      ({ reserve }) => reserve && roundedUnits(reserve, 1n),
    ),
  },
);

type OfState = Pick<StateSince, 'state'>;

const stateFields = {
  reserve0: numeral.orNull('Base units of token 0. null: not a pool with reserves', ({ state }: OfState) =>
    state.of === 'reserves' ? state.reserve0 : null,
  ),
  reserve1: numeral.orNull('Base units of token 1. null: not a pool with reserves', ({ state }: OfState) =>
    state.of === 'reserves' ? state.reserve1 : null,
  ),
  sqrt_price_x96: numeral.orNull(
    'Square root of the price times 2^96. null: not a concentrated pool',
    ({ state }: OfState) => (state.of === 'price' ? state.sqrtPriceX96 : null),
  ),
  liquidity: numeral.orNull('Liquidity in range. null: not a concentrated pool', ({ state }: OfState) =>
    state.of === 'price' ? state.liquidity : null,
  ),
  active_bin: bin.orNull('Bin of the price. null: not a Liquidity Book pair', ({ state }: OfState) =>
    state.of === 'bin' ? state.activeId : null,
  ),
};

export const poolStateView = view(null, (state: OfState) => state, stateFields);

const stateSinceView = view(
  { name: 'PoolStateSince', description: 'State of a pool until the next one' },
  (since: StateSince) => since,
  {
    block: numeral('First block of the state'),
    time: time('Time of that block, in seconds since 1970', ({ since }) => since),
    ...stateFields,
    balance0: numeral.orNull(
      'Base units of token 0 that the pool holds, as in sides. null: unknown',
      ({ balances }) => balances[0],
    ),
    balance1: numeral.orNull(
      'Base units of token 1 that the pool holds, as in sides. null: unknown',
      ({ balances }) => balances[1],
    ),
  },
);

interface Considered {
  readonly judged: JudgedCandidate;
  readonly known: PricedPool;
}

const candidateView = view(
  { name: 'PriceCandidate', description: 'A pool that was considered' },
  ({ judged, known }: Considered) => ({ judged, known, ...known }),
  {
    pair_address: text('Address of the pool', ({ judged }) => judged.pool),
    exchange_name: text('Name of the exchange', ({ history }) => history.exchange),
    role: role('Role of the pool in the decision', ({ judged }) => judged.role),
    price_usd: plain('Price of the token in this pool, by its newest state', ({ candidate }) =>
      newest(candidate.price),
    ),
    weight_usd: dollars(
      'Smaller of the current depth and its median over the window, on the side of the known token. Less if little of the past is known',
      ({ judged }) => judged.weight,
    ),
    is_stable: flag.orNull('Whether it has the curve of stable pairs', ({ history }) => history.isStable),
    bin_step: binStep.orNull(
      'Basis points between the prices of two bins. null: not a Liquidity Book pair',
      ({ history }) => (history.states[0]?.state.of === 'bin' ? history.tickSpacing : null),
    ),
    created_time: time.orNull(
      'Time of the creation, or of the first event on chain, in seconds since 1970. null: unknown, so the pool is not young',
      ({ history }) => history.createdAt,
    ),
    reading_block: numeral.orNull(
      'Block at whose end contract calls read the first state. null: an event reported it',
      ({ history }) => history.readAt,
    ),
    sides: each(sideView, (list) => list.max(2))('Both tokens of the pool', ({ known }) => sidesOf(known)),
    states: each(stateSinceView, (list) => list.max(STATES_MAX))(
      'States of the window, oldest first: the first one is from before the window, if there is one',
      ({ history }) => history.states,
    ),
  },
);

const anchorView = view(
  { name: 'AnchorPrice', description: 'Price of an anchor. Fields about the feed are null for other sources' },
  ({ token, usd, source }: AnchorPrice) => ({ token, usd, source, feed: source.of === 'feed' ? source : null }),
  {
    token_address: text('Token. The zero address is the native token', ({ token }) => token),
    price_usd: plain('Price in US dollars', ({ usd }) => usd),
    price_numerator: numeral('Numerator of the exact price', ({ usd }) => usd.numerator),
    price_denominator: numeral('Denominator of the exact price', ({ usd }) => usd.denominator),
    source: anchorSource(
      'feed: the last value of its price feed. pool: a pool of ether and dollars. assumed: 1 US dollar',
      ({ source }) => source.of,
    ),
    feed: text.orNull('Proxy of the price feed', ({ feed }) => feed?.proxy ?? null),
    aggregator: text.orNull('Aggregator of the value', ({ feed }) => feed?.aggregator ?? null),
    round: text.orNull('Round of the aggregator', ({ feed }) => feed?.round ?? null),
    block: numeral.orNull(
      'Block of the log that set the value, or at whose end the feed was read',
      ({ feed }) => feed?.block ?? null,
    ),
    transaction_index: count.orNull(
      'Index of the transaction of the log. null: the feed was read',
      ({ feed }) => feed?.log?.transactionIndex ?? null,
    ),
    log_index: count.orNull(
      'Index of the log. null: the feed was read',
      ({ feed }) => feed?.log?.logIndex ?? null,
    ),
  },
);

export const rulesView = view(
  { name: 'PriceRules', description: 'Figures of the method' },
  (rules: PricingRules) => rules,
  {
    min_side_usd: bounded('US dollars that each side of a pool must hold', ({ minSideDepth }) => minSideDepth),
    window_seconds: count('Length of the window', ({ windowSeconds }) => windowSeconds),
    jump_limit: bounded(
      'Factor between price and median above which a price has to hold',
      ({ jumpLimit }) => jumpLimit,
    ),
    hold_seconds: count('Seconds for which such a price has to hold', ({ holdSeconds }) => holdSeconds),
    pools_max: count('Number of deepest pools that count', ({ poolsMax }) => poolsMax),
    hop_min_usd: bounded(
      'US dollars on the side of anchors that the pools of a hop must hold',
      ({ hopMinDepth }) => hopMinDepth,
    ),
    hop_jump_limit: bounded(
      'jump_limit of each of the two steps, for a price through a hop',
      (rules) => hopRules(rules).jumpLimit,
    ),
  },
);

const hopView = view(
  { name: 'PriceHop', description: 'A token that pools are priced with' },
  ({ token, price, depth }: HopPrice) => ({ token, price, usd: price.usd, depth }),
  {
    token_address: text('Token with a direct price', ({ token }) => token),
    price_usd: plain('Price in US dollars', ({ usd }) => usd),
    price_numerator: numeral('Numerator of the exact price', ({ usd }) => usd.numerator),
    price_denominator: numeral('Denominator of the exact price', ({ usd }) => usd.denominator),
    depth_usd: dollars('US dollars on the side of anchors, of the pools that have a say', ({ depth }) => depth),
    rule: rule('As for the price itself', ({ price }) => price.decision.rule),
    candidates: each(candidateView, (list) => list.max(POOLS_MAX))(
      'Considered pools against anchors',
      ({ price }) => consideredOf(price),
    ),
  },
);

const nullable = (description: string) => z.string().nullable().openapi({ description });

export const explanationSchema = z
  .object({
    block: z.string().openapi({ description: 'Block of the price' }),
    time: TIME.openapi({ description: 'Time of that block, in seconds since 1970' }),
    rule: z.enum(['anchor', 'spot', 'median']).openapi({
      description:
        'anchor: the price of the anchor itself. spot: newest state of the chosen pool. median: its median over the window',
    }),
    price_numerator: z.string().openapi({ description: 'Numerator of the exact price in US dollars' }),
    price_denominator: z.string().openapi({ description: 'Denominator of the exact price' }),
    median_usd: nullable('Median price of the chosen pool over the window. null for an anchor'),
    held_seconds: TIME.nullable().openapi({
      description: 'Seconds for which the price has stayed near its newest value. null for an anchor',
    }),
    move_cost_usd: nullable(
      'US dollars that raise the price by 10 %, in the cheapest pools with half of the weight. null for an anchor',
    ),
    is_move_cost_upper_bound: z.boolean().openapi({
      description: 'Whether the cost may be lower: liquidity out of the current range is not counted',
    }),
    ether_usd: nullable('Ether price. null if unknown'),
    rules: rulesView.schema,
    anchors: z
      .array(anchorView.schema)
      .max(TOKENS_MAX)
      .openapi({ description: 'Prices of the tokens that pools are priced with' }),
    hops: z.array(hopView.schema).max(TOKENS_MAX).openapi({
      description: 'Tokens that the candidates are priced with, if the price has a hop. Empty: with anchors',
    }),
    candidates: z.array(candidateView.schema).max(POOLS_MAX).openapi({ description: 'Considered pools' }),
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
    rules: rulesView.show(rules),
    anchors: place.anchors.map((anchor) => anchorView.show(anchor)),
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
    hops: price.hops.map((hop) => hopView.show(hop)),
    candidates: showCandidates(price),
  };
}

const NO_POOLS = { is_move_cost_upper_bound: false, hops: [], candidates: [] };

interface Consideration {
  readonly decision: Pick<PriceDecision, 'candidates'>;
  readonly pools: readonly PricedPool[];
}

export function showCandidates(considered: Consideration) {
  return consideredOf(considered).map((candidate) => candidateView.show(candidate));
}

function consideredOf({ decision, pools }: Consideration): readonly Considered[] {
  const byId = new Map<string, PricedPool>(pools.map((pool) => [pool.history.pool, pool]));
  return decision.candidates.flatMap((judged) => {
    const known = byId.get(judged.pool);
    return known === undefined ? [] : [{ judged, known }];
  });
}

function sidesOf({
  history: { token0, token1, states },
  decimals: ofTokens,
}: PricedPool): readonly CandidateSide[] {
  const last = states.at(-1);
  if (last === undefined) return [];
  const reserves = last.state.of === 'bin' ? null : virtualReserves(last.state);
  return [token0, token1].map((token, side) => ({
    token,
    decimals: ofTokens[side] ?? 0,
    balance: last.balances[side] ?? null,
    reserve: reserves && (reserves[side] ?? wholeFraction(0n)),
  }));
}
