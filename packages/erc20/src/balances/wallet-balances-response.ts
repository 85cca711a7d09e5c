import { decimalAmount } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { percentOfSupply } from './percent-of-supply.ts';
import type { ToldBalance } from './tell-wallet-balances.ts';

const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '102847' });

/** What balances of tokens have in common, wherever they are shown. */
export const tokenBalanceShape = {
  token_address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
  name: z.string().nullable(),
  symbol: z.string().nullable(),
  logo: z.string().nullable(),
  thumbnail: z.string().nullable().openapi({ description: 'The same as logo' }),
  decimals: z.int().nullable().openapi({ description: '0 where the contract has none; null until it was read' }),
  balance: digits.openapi({ description: "In the token's smallest unit" }),
  possible_spam: z.boolean(),
  verified_contract: z.boolean().openapi({ description: 'Named by an imported token list' }),
  total_supply: digits.nullable(),
  total_supply_formatted: z.string().nullable(),
  percentage_relative_to_total_supply: z.number().nullable().openapi({ description: 'Percent' }),
  security_score: z.null(),
};

/** The answer of `getWalletTokenBalances` (docs/provider-contract.md#token-balances). */
export const walletBalancesSchema = z
  .array(
    z
      .object({
        ...tokenBalanceShape,
        balance_block: digits.openapi({ description: 'The block after which it is the balance' }),
      })
      .openapi('Erc20Balance'),
  )
  .openapi('Erc20Balances');

/** One row of the answer. */
export function showBalance(told: ToldBalance): z.infer<typeof walletBalancesSchema>[number] {
  return { ...showToken(told), balance_block: told.balanceBlock.toString() };
}

/** The members of {@link tokenBalanceShape}. */
export function showToken({ token, balance, facts }: Pick<ToldBalance, 'token' | 'balance' | 'facts'>) {
  const { decimals, totalSupply: supply } = facts;
  return {
    token_address: token,
    name: facts.name,
    symbol: facts.symbol,
    logo: facts.logo,
    thumbnail: facts.logo,
    decimals,
    balance: balance.toString(),
    possible_spam: facts.possibleSpam,
    verified_contract: facts.verified,
    total_supply: supply?.toString() ?? null,
    total_supply_formatted: supply === null || decimals === null ? null : decimalAmount(supply.toString(), decimals),
    percentage_relative_to_total_supply: supply === null ? null : percentOfSupply(balance, supply),
    security_score: null,
  };
}
