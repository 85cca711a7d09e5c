import type { Chain } from '@chainstead/chains';
import type { PricingRules } from '@chainstead/chains/pricing-rules';
import {
  type Address,
  addFractions,
  type Fraction,
  invertFraction,
  multiplyFractions,
  roundedUnits,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { indexedBlocks, inside, view, wire } from '@chainstead/http';
import { shownToken } from '@chainstead/markets/requests';
import type { Indexed } from '@chainstead/pages';
import type { TokenFacts } from '@chainstead/tokens/token-book';
import { newest } from '../decide/decide-price.ts';
import type { PricePlace } from '../place/price-place.ts';
import type { TokenPrice } from '../read/token-price.ts';
import { explainPrice, explanationSchema } from './price-explanation.ts';
import { priceProofSchema } from './price-proof-document.ts';
import { changeBetween, dollars, figure, plain } from './shown-values.ts';

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

const { flag, integer, nothing, number, numeral, text } = wire;

interface NativePrice extends Pick<Chain['native'], 'decimals' | 'name' | 'symbol'> {
  readonly value: bigint;
  readonly address: Address;
}

const nativePriceView = view(null, (price: NativePrice) => price, {
  value: numeral('Base units of the native token per whole token'),
  decimals: integer('Decimals of the native token'),
  name: text('Name of the native token'),
  symbol: text('Symbol of the native token'),
  // The SDK refuses null here.
  address: text('Wrapped native token. The zero address if the chain has none'),
});

function sourceOf(found: FoundPrice, chain: Chain, explains: boolean) {
  const { price, before } = found;
  const pool =
    price.of === 'pools' ? price.pools.find(({ history }) => history.pool === price.decision.pool) : undefined;
  return {
    ...found,
    chain,
    explains,
    usd: price.usd,
    history: pool?.history ?? null,
    depth: pool ? addFractions(newest(pool.candidate.anchorDepth), newest(pool.candidate.tokenDepth)) : null,
    change: before === null ? null : changeBetween(before, price.usd),
  };
}

export const tokenPriceView = view(
  { name: 'TokenPrice', description: 'Price of a token at the end of a block' },
  sourceOf,
  {
    tokenName: text.orNull('Name of the token', ({ facts }) => facts.name),
    tokenSymbol: text.orNull('Symbol of the token', ({ facts }) => facts.symbol),
    tokenLogo: text.orNull('Logo from an imported token list', ({ facts }) => facts.logo),
    tokenDecimals: numeral.orNull('Decimals of the token', ({ facts }) => facts.decimals),
    nativePrice: inside(nativePriceView).orNull(
      'Price in the native token. null if the native token has no price',
      (found) => nativePriceOf(found),
    ),
    usdPrice: figure('US dollars per whole token', ({ usd }) => usd),
    usdPriceFormatted: plain('The same as a plain decimal', ({ usd }) => usd),
    '24hrPercentChange': numeral.orNull(
      'Change since 24 hours before, in percent',
      ({ change }) => change?.percent ?? null,
    ),
    usdPrice24h: figure.orNull('Price 24 hours before', ({ before }) => before),
    usdPrice24hr: figure.orNull('Same as usdPrice24h', ({ before }) => before),
    usdPrice24hrUsdChange: number.orNull(
      'Change since 24 hours before, in US dollars',
      ({ change }) => change?.dollars ?? null,
    ),
    usdPrice24hrPercentChange: number.orNull(
      'Change since 24 hours before, in percent',
      ({ change }) => change?.percent ?? null,
    ),
    exchangeAddress: text.orNull(
      'Factory of the pool. null for a price without a pool',
      ({ history }) => history?.factory ?? null,
    ),
    exchangeName: text.orNull(
      'Exchange of the pool. null for a price without a pool',
      ({ history }) => history?.exchange ?? null,
    ),
    pairAddress: text.orNull(
      'Pool that decided. null for a price without a pool',
      ({ history }) => history?.pool ?? null,
    ),
    pairTotalLiquidityUsd: dollars.orNull('US dollars on both sides of the pool', ({ depth }) => depth),
    tokenAddress: text('Token contract', ({ token, chain }) => shownToken(token, chain)),
    toBlock: numeral.orAbsent('Requested block. Only if to_block was given'),
    priceLastChangedAtBlock: numeral.orNull(
      'Block of the last state of the pool',
      ({ history }) => history?.changedAt.block ?? null,
    ),
    blockTimestamp: numeral.orNull(
      'Time of that block, in milliseconds since 1970',
      ({ history }) => history && history.changedAt.since * 1_000,
    ),
    possibleSpam: flag('Whether the token is flagged as spam', ({ facts }) => facts.possibleSpam),
    verifiedContract: flag('Whether an imported list verifies the token', ({ facts }) => facts.verified),
    securityScore: nothing('Always null: not available', () => null),
    indexed: indexedBlocks(),
    explanation: wire
      .wire(explanationSchema, explainPrice)
      .orAbsent((found: ReturnType<typeof sourceOf>) => (found.explains ? found : null)),
    proof: wire.wire(priceProofSchema).orAbsent(() => null),
  },
);

export type ShownTokenPrice = ReturnType<typeof tokenPriceView.show>;

function nativePriceOf({
  token,
  price,
  native,
  chain,
}: FoundPrice & { readonly chain: Chain }): NativePrice | null {
  if (native === null || native.numerator === 0n) return null;
  const address = shownToken(ZERO_ADDRESS, chain);
  const unit = 10n ** BigInt(chain.native.decimals);
  const isNative = shownToken(token, chain) === address;
  const value = isNative ? unit : roundedUnits(multiplyFractions(price.usd, invertFraction(native)), unit);
  return { ...chain.native, value, address };
}
