import type { Chain } from '@chainstead/chains';
import type { PricingRules } from '@chainstead/chains/pricing-rules';
import {
  type Address,
  addFractions,
  cents,
  type Fraction,
  invertFraction,
  multiplyFractions,
  nearestNumber,
  roundedUnits,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { shownToken } from '@chainstead/markets/requests';
import { type Indexed, indexedSchema, showIndexed } from '@chainstead/pages';
import type { TokenFacts } from '@chainstead/tokens/token-book';
import { z } from '@hono/zod-openapi';
import { newest } from '../decide/decide-price.ts';
import type { PricePlace } from '../place/price-place.ts';
import type { TokenPrice } from '../read/token-price.ts';
import { explainPrice, explanationSchema } from './price-explanation.ts';
import { priceProofSchema } from './price-proof-document.ts';
import { changeBetween, plainDecimal } from './shown-values.ts';

const text = (description: string) => z.string().nullable().openapi({ description });
const number = (description: string) => z.number().nullable().openapi({ description });

export const tokenPriceSchema = z
  .object({
    tokenName: text('Name of the token'),
    tokenSymbol: text('Symbol of the token'),
    tokenLogo: text('Logo from an imported token list'),
    tokenDecimals: text('Decimals of the token'),
    nativePrice: z
      .object({
        value: z.string().openapi({ description: 'Base units of the native token per whole token' }),
        decimals: z.int().openapi({ description: 'Decimals of the native token' }),
        name: z.string().openapi({ description: 'Name of the native token' }),
        symbol: z.string().openapi({ description: 'Symbol of the native token' }),
        // The SDK refuses null here.
        address: z
          .string()
          .openapi({ description: 'Wrapped native token. The zero address if the chain has none' }),
      })
      .nullable()
      .openapi({ description: 'Price in the native token. null if the native token has no price' }),
    usdPrice: z.number().openapi({ description: 'US dollars per whole token' }),
    usdPriceFormatted: z.string().openapi({ description: 'The same as a plain decimal' }),
    '24hrPercentChange': text('Change since 24 hours before, in percent'),
    usdPrice24h: number('Price 24 hours before'),
    usdPrice24hr: number('Same as usdPrice24h'),
    usdPrice24hrUsdChange: number('Change since 24 hours before, in US dollars'),
    usdPrice24hrPercentChange: number('Change since 24 hours before, in percent'),
    exchangeAddress: text('Factory of the pool. null for a price without a pool'),
    exchangeName: text('Exchange of the pool. null for a price without a pool'),
    pairAddress: text('Pool that decided. null for a price without a pool'),
    pairTotalLiquidityUsd: text('US dollars on both sides of the pool'),
    tokenAddress: z.string().openapi({ description: 'Token contract' }),
    toBlock: z.string().optional().openapi({ description: 'Requested block. Only if to_block was given' }),
    priceLastChangedAtBlock: text('Block of the last state of the pool'),
    blockTimestamp: text('Time of that block, in milliseconds since 1970'),
    possibleSpam: z.boolean().openapi({ description: 'Whether the token is flagged as spam' }),
    verifiedContract: z.boolean().openapi({ description: 'Whether an imported list verifies the token' }),
    securityScore: z.null().openapi({ description: 'Always null: not available' }),
    indexed: indexedSchema,
    explanation: explanationSchema.optional(),
    proof: priceProofSchema.optional(),
  })
  .openapi('TokenPrice', { description: 'Price of a token at the end of a block' });

export type ShownTokenPrice = z.infer<typeof tokenPriceSchema>;

export interface FoundPrice {
  readonly token: Address;
  readonly facts: TokenFacts;
  readonly price: Exclude<TokenPrice, { of: 'nothing' }>;
  /** US dollars; null: unknown. */
  readonly native: Fraction | null;
  /** 24 hours before; null: unknown. */
  readonly before: Fraction | null;
  readonly place: PricePlace;
  readonly rules: PricingRules;
  readonly indexed: Indexed;
  readonly toBlock: number | null;
}

export function showTokenPrice(found: FoundPrice, chain: Chain, explains: boolean): ShownTokenPrice {
  const { token, facts, price, before, indexed, toBlock } = found;
  const isNative = shownToken(token, chain) === shownToken(ZERO_ADDRESS, chain);
  const { name, symbol, decimals, logo, possibleSpam, verified } = facts;
  const pool =
    price.of === 'pools' ? price.pools.find(({ history }) => history.pool === price.decision.pool) : undefined;
  const state = pool?.history.changedAt;
  const depth = pool ? addFractions(newest(pool.candidate.anchorDepth), newest(pool.candidate.tokenDepth)) : null;
  const change = before === null ? null : changeBetween(before, price.usd);
  return {
    tokenName: name,
    tokenSymbol: symbol,
    tokenLogo: logo,
    tokenDecimals: decimals === null ? null : String(decimals),
    nativePrice: showNativePrice(found, chain, isNative),
    usdPrice: nearestNumber(price.usd),
    usdPriceFormatted: plainDecimal(price.usd),
    '24hrPercentChange': change === null ? null : change.percent.toString(),
    usdPrice24h: before === null ? null : nearestNumber(before),
    usdPrice24hr: before === null ? null : nearestNumber(before),
    usdPrice24hrUsdChange: change?.dollars ?? null,
    usdPrice24hrPercentChange: change?.percent ?? null,
    exchangeAddress: pool?.history.factory ?? null,
    exchangeName: pool?.history.exchange ?? null,
    pairAddress: pool?.history.pool ?? null,
    pairTotalLiquidityUsd: depth === null ? null : cents(depth),
    tokenAddress: shownToken(token, chain),
    ...(toBlock !== null && { toBlock: String(toBlock) }),
    priceLastChangedAtBlock: state === undefined ? null : String(state.block),
    blockTimestamp: state === undefined ? null : String(state.since * 1_000),
    possibleSpam,
    verifiedContract: verified,
    securityScore: null,
    indexed: showIndexed(indexed),
    ...(explains && { explanation: explainPrice(found) }),
  };
}

function showNativePrice(
  { price, native }: FoundPrice,
  chain: Chain,
  isNative: boolean,
): ShownTokenPrice['nativePrice'] {
  const { name, symbol, decimals } = chain.native;
  const unit = 10n ** BigInt(decimals);
  if (native === null || native.numerator === 0n) return null;
  const value = isNative ? unit : roundedUnits(multiplyFractions(price.usd, invertFraction(native)), unit);
  return { value: value.toString(), decimals, name, symbol, address: shownToken(ZERO_ADDRESS, chain) };
}
