import type { Chain } from '@chainstead/chains';
import { decimalAmount, type Fraction, parseAddress } from '@chainstead/core';
import { type ResolvedBalance, showToken, tokenBalanceShape } from '@chainstead/erc20/requests';
import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { type HeldPrice, showValues } from './held-values.ts';

/** As the hosted API writes the native token. */
export const NATIVE_ADDRESS = parseAddress('0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee');

const number = (description: string) => z.number().nullable().openapi({ description });

const walletTokenSchema = z
  .object({
    ...tokenBalanceShape,
    token_address: z
      .string()
      .openapi({ pattern: '^0x[0-9a-f]{40}$', description: `${NATIVE_ADDRESS} for the native token` }),
    balance_formatted: z.string().nullable(),
    native_token: z.boolean(),
    usd_price: number('US dollars per whole token at the block. null: no price'),
    usd_price_24hr_percent_change: number('Change of the price since 24 hours before, in percent'),
    usd_price_24hr_usd_change: number('Change of the price since 24 hours before, in US dollars'),
    usd_value: number('Balance times price, in US dollars'),
    usd_value_24hr_usd_change: number('Change of the value of this balance since 24 hours before, in US dollars'),
    portfolio_percentage: z.number().openapi({
      description: "Percentage of the value of all the wallet's tokens that pass the filters. 0 without a price",
    }),
  })
  .openapi('WalletToken');

/** docs/api/wallets.md#wallet-tokens */
export const walletTokensSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    block_number: z
      .int()
      .min(0)
      .openapi({ description: 'Block number. The balances are those after this block' }),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    unread_tokens: z
      .array(z.string())
      .openapi({ description: 'Tokens omitted from this page because no node returned their balance in time' }),
    result: z.array(walletTokenSchema),
  })
  .openapi('WalletTokens');

export function showWalletToken(
  reported: ResolvedBalance,
  price: HeldPrice | undefined,
  total: Fraction,
): z.infer<typeof walletTokenSchema> {
  const { decimals } = reported.facts;
  return {
    ...showToken(reported),
    balance_formatted: decimals === null ? null : decimalAmount(reported.balance.toString(), decimals),
    native_token: false,
    ...showValues({ balance: reported.balance, decimals, price }, total),
  };
}

/** @param balance base units @param total US dollars of the wallet */
export function showNativeToken(
  { native }: Chain,
  balance: bigint,
  price: HeldPrice | undefined,
  total: Fraction,
): z.infer<typeof walletTokenSchema> {
  return {
    token_address: NATIVE_ADDRESS,
    name: native.name,
    symbol: native.symbol,
    logo: null,
    thumbnail: null,
    decimals: native.decimals,
    balance: balance.toString(),
    possible_spam: false,
    verified_contract: true,
    total_supply: null,
    total_supply_formatted: null,
    percentage_relative_to_total_supply: null,
    security_score: null,
    balance_formatted: decimalAmount(balance.toString(), native.decimals),
    native_token: true,
    ...showValues({ balance, decimals: native.decimals, price }, total),
  };
}
