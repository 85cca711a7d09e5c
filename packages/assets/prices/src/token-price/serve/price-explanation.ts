import type { PricingRules } from '@chainstead/chains/pricing-rules';
import { cents, nearestNumber } from '@chainstead/core';
import { each, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { hopRules } from '../decide/decide-price.ts';
import { type AnchorPrice, anchorPrices } from '../place/anchor-prices.ts';
import type { PricePlace } from '../place/price-place.ts';
import { costOfPrice } from '../read/price-cost.ts';
import type { HopPrice, TokenPrice } from '../read/token-price.ts';
import { candidateView, consideredOf, showCandidates, TIME } from './price-candidates.ts';
import { dollars, plain, plainDecimal } from './shown-values.ts';

const POOLS_MAX = 10_000;
const TOKENS_MAX = 1_000;

const { count, numeral, text } = wire;
const bounded = wire.wire(z.number().min(0).max(1e15), nearestNumber);
const anchorSource = wire.wire(z.enum(['feed', 'pool', 'assumed']));
const rule = wire.wire(z.enum(['spot', 'median']));

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
