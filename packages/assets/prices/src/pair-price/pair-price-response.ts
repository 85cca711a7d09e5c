import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, ZERO_ADDRESS } from '@chainstead/core';
import { formsOf, type PairOfTokens, shownToken, type TokenRecord } from '@chainstead/markets/requests';
import { z } from '@hono/zod-openapi';
import { plainDecimal } from '../token-price/serve/shown-values.ts';

const text = (description: string) => z.string().nullable().openapi({ description });

const tokenSchema = (name: string) =>
  z
    .object({
      address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$', description: 'Token contract' }),
      name: text('Name of the token'),
      symbol: text('Symbol of the token'),
      decimals: text('Decimals of the token'),
      logo: text('Logo from an imported token list'),
      logo_hash: z.null().openapi({ description: 'Always null: not available' }),
      thumbnail: text('Same as logo'),
      created_at: text('Time of the creation block. null until it is found'),
      possible_spam: z.boolean().openapi({ description: 'Whether the token is flagged as spam' }),
      verified_contract: z.boolean().openapi({ description: 'Whether an imported list verifies the token' }),
    })
    .openapi(name);

/** docs/api/prices.md#price-of-a-pair */
export const pairPriceSchema = z
  .object({
    pair_address: z.string().openapi({ description: 'Address of the pool, or its 32-byte id at a pool manager' }),
    pair_label: text('Symbols of both tokens. null until both are known'),
    exchange: text('Name of the exchange'),
    quote_price: z
      .string()
      .openapi({ description: 'Second token of the path per first one, by the state of the pool' }),
    price_usd: text('Price of the first token in US dollars, as in getTokenPrice. null: unknown'),
    base_token: tokenSchema('PairPriceBaseToken').openapi({ description: 'First token of the path' }),
    quote_token: tokenSchema('PairPriceQuoteToken').openapi({ description: 'Second token of the path' }),
  })
  .openapi('PairPrice');

/** @param ratio tokens 1 of the pool per token 0 @param usd per base token; null: unknown */
export function showPairPrice(
  pair: PairOfTokens,
  chain: Chain,
  [base, quote]: readonly [Address, Address],
  ratio: Fraction,
  usd: Fraction | null,
): z.infer<typeof pairPriceSchema> {
  const isBase0 = formsOf(base, chain).includes(pair.token0);
  const price = isBase0 ? ratio : { numerator: ratio.denominator, denominator: ratio.numerator };
  const [shownBase, shownQuote] = [showToken(base, pair.tokens, chain), showToken(quote, pair.tokens, chain)];
  const [left, right] = [shownBase.symbol, shownQuote.symbol];
  return {
    pair_address: pair.pool,
    pair_label: left === null || right === null ? null : `${left}/${right}`,
    exchange: pair.exchange,
    quote_price: plainDecimal(price),
    price_usd: usd === null ? null : plainDecimal(usd),
    base_token: shownBase,
    quote_token: shownQuote,
  };
}

function showToken(
  token: Address,
  records: readonly TokenRecord[],
  chain: Chain,
): z.infer<ReturnType<typeof tokenSchema>> {
  const isNative = shownToken(token, chain) === shownToken(ZERO_ADDRESS, chain);
  const known = records.find(({ address }) => address === token);
  const { name, symbol, decimals } = known ?? (isNative ? chain.native : UNKNOWN);
  return {
    address: shownToken(token, chain),
    ...{ name, symbol, decimals: decimals === null ? null : String(decimals) },
    logo: known?.logo ?? null,
    logo_hash: null,
    thumbnail: known?.logo ?? null,
    created_at: known?.createdAt?.toISOString() ?? null,
    possible_spam: known?.possibleSpam ?? false,
    verified_contract: known?.verified ?? false,
  };
}

const UNKNOWN = { name: null, symbol: null, decimals: null };
