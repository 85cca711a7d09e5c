import { decimalAmount } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { PROOF_REASONS, type ShownProof } from '../balance-proofs/ask-proofs.ts';
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
        proof: z.literal('storage').nullable().optional().openapi({
          description: "With proof=true: the chain's state has exactly this balance; null where that is not proven",
        }),
        proof_reason: z
          .enum(PROOF_REASONS)
          .nullable()
          .optional()
          .openapi({ description: 'With proof=true: why it is not proven; null where it is' }),
        proof_block: digits
          .nullable()
          .optional()
          .openapi({ description: 'With proof=true: the block whose state root proves it' }),
      })
      .openapi('Erc20Balance'),
  )
  .openapi('Erc20Balances');

/** One row of the answer. @param proof where proofs were asked for */
export function showBalance(told: ToldBalance, proof?: ShownProof): z.infer<typeof walletBalancesSchema>[number] {
  const row = { ...showToken(told), balance_block: told.balanceBlock.toString() };
  if (proof === undefined) return row;
  const { reason, block } = proof;
  return {
    ...row,
    proof: reason === null ? 'storage' : null,
    proof_reason: reason,
    proof_block: block?.toString() ?? null,
  };
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
    total_supply: supply,
    total_supply_formatted: supply === null || decimals === null ? null : decimalAmount(supply, decimals),
    percentage_relative_to_total_supply: supply === null ? null : percentOfSupply(balance, BigInt(supply)),
    security_score: null,
  };
}
