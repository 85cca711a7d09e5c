import { DEFAULT_PRICING_RULES, type PricingRules } from '@chainstead/chains/pricing-rules';
import type { z } from 'zod';
import { keysOf } from './key-facts.ts';
import { exactNumber, wholeNumber } from './values.ts';

const { withDefault } = keysOf('Prices');

const DAY_SECONDS = 86_400;

export const priceKeys = {
  PRICE_MIN_SIDE_USD: withDefault(exactNumber(0, 1_000_000_000_000), {
    description:
      'US dollars that each side of a pool must hold, so that the pool counts for prices. Requests may set another value',
    example: '150',
    default: '500',
  }),
  PRICE_WINDOW_SECONDS: withDefault(wholeNumber(1, DAY_SECONDS), {
    description:
      'Seconds before a block over which medians of depths and prices are taken. Younger pools are new',
    example: '3600',
    default: '1800',
  }),
  PRICE_HOLD_SECONDS: withDefault(wholeNumber(0, DAY_SECONDS), {
    description: 'Seconds for which a price more than 10 % off its median must hold before it is served',
    example: '900',
    default: '600',
  }),
  PRICE_HOP_MIN_USD: withDefault(exactNumber(0, 1_000_000_000_000), {
    description:
      'US dollars that the pools of a token must hold on the side of anchors, so that tokens without such a pool are priced through it',
    example: '100000',
    default: '50000',
  }),
};

type PriceSettings = { readonly [Key in keyof typeof priceKeys]: z.output<(typeof priceKeys)[Key]> };

export function pricingRules(settings: PriceSettings): PricingRules {
  return {
    ...DEFAULT_PRICING_RULES,
    minSideDepth: settings.PRICE_MIN_SIDE_USD,
    windowSeconds: settings.PRICE_WINDOW_SECONDS,
    holdSeconds: settings.PRICE_HOLD_SECONDS,
    hopMinDepth: settings.PRICE_HOP_MIN_USD,
  };
}
