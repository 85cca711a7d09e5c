import type { Chain } from '@chainstead/chains';
import { decimalAmount, parseAddress } from '@chainstead/core';
import { indexedSchema } from '@chainstead/data-api';
import { z } from '@hono/zod-openapi';
import type { ResolvedBalance } from './resolve-wallet-balances.ts';
import { showToken, tokenBalanceShape } from './wallet-balances-response.ts';

/** The hosted API's address of the native token. */
export const NATIVE_ADDRESS = parseAddress('0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee');

const price = z.number().nullable();

const walletTokenSchema = z
  .object({
    ...tokenBalanceShape,
    token_address: z.string().openapi({
      pattern: '^0x[0-9a-f]{40}$',
      description: `${NATIVE_ADDRESS} for the native token`,
    }),
    balance_formatted: z.string().nullable(),
    native_token: z.boolean(),
    usd_price: price.openapi({ description: 'null, as all prices: no prices are available' }),
    usd_price_24hr_percent_change: price,
    usd_price_24hr_usd_change: price,
    usd_value: price,
    usd_value_24hr_usd_change: price,
    portfolio_percentage: price,
  })
  .openapi('WalletToken');

/** The response of `getWalletTokenBalancesPrice` (docs/api/wallets.md#wallet-tokens). */
export const walletTokensSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    block_number: z.int().min(0).openapi({ description: 'Block number. The balances are those after this block' }),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    unread_tokens: z
      .array(z.string())
      .openapi({ description: 'Tokens omitted from this page because no node returned their balance in time' }),
    result: z.array(walletTokenSchema),
  })
  .openapi('WalletTokens');

type WalletToken = z.infer<typeof walletTokenSchema>;

const NO_PRICES = {
  usd_price: null,
  usd_price_24hr_percent_change: null,
  usd_price_24hr_usd_change: null,
  usd_value: null,
  usd_value_24hr_usd_change: null,
  portfolio_percentage: null,
};

/** Returns a token of the response. */
export function showWalletToken(reported: ResolvedBalance): WalletToken {
  const { decimals } = reported.facts;
  return {
    ...showToken(reported),
    balance_formatted: decimals === null ? null : decimalAmount(reported.balance.toString(), decimals),
    native_token: false,
    ...NO_PRICES,
  };
}

/** Returns the native token of the response. @param wei decimal digits */
export function showNativeToken({ native }: Chain, wei: string): WalletToken {
  return {
    token_address: NATIVE_ADDRESS,
    name: native.name,
    symbol: native.symbol,
    logo: null,
    thumbnail: null,
    decimals: native.decimals,
    balance: wei,
    possible_spam: false,
    verified_contract: true,
    total_supply: null,
    total_supply_formatted: null,
    percentage_relative_to_total_supply: null,
    security_score: null,
    balance_formatted: decimalAmount(wei, native.decimals),
    native_token: true,
    ...NO_PRICES,
  };
}
