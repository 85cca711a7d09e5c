import { decimalAmount } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { PROOF_REASONS, type ShownProof } from '../balance-proofs/fetch-proofs.ts';
import { percentOfSupply } from './balance-questions.ts';
import type { ResolvedBalance } from './resolve-wallet-balances.ts';

const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '102847' });

export const tokenBalanceShape = {
  token_address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
  name: z.string().nullable(),
  symbol: z.string().nullable(),
  logo: z.string().nullable(),
  thumbnail: z.string().nullable().openapi({ description: 'Same as logo' }),
  decimals: z.int().nullable().openapi({ description: '0 if the contract has none. null until it is read' }),
  balance: digits.openapi({ description: 'In base units of the token' }),
  possible_spam: z.boolean(),
  verified_contract: z.boolean().openapi({ description: 'true if an imported token list contains the token' }),
  total_supply: digits.nullable(),
  total_supply_formatted: z.string().nullable(),
  percentage_relative_to_total_supply: z.number().nullable().openapi({ description: 'Percentage of the supply' }),
  security_score: z.null(),
};

/** docs/api/wallets.md#token-balances */
export const walletBalancesSchema = z
  .array(
    z
      .object({
        ...tokenBalanceShape,
        balance_block: digits.openapi({ description: 'Block number. The balance is the one after this block' }),
        proof: z.literal('storage').nullable().optional().openapi({
          description:
            'With proof=true: true if the state of the chain contains exactly this balance. null if not proven',
        }),
        proof_reason: z
          .enum(PROOF_REASONS)
          .nullable()
          .optional()
          .openapi({ description: 'With proof=true: the reason if the balance is not proven. null if it is' }),
        proof_block: digits
          .nullable()
          .optional()
          .openapi({ description: 'With proof=true: the block whose state root proves the balance' }),
      })
      .openapi('Erc20Balance'),
  )
  .openapi('Erc20Balances');

export function showBalance(
  reported: ResolvedBalance,
  proof?: ShownProof,
): z.infer<typeof walletBalancesSchema>[number] {
  const row = { ...showToken(reported), balance_block: reported.balanceBlock.toString() };
  if (proof === undefined) return row;
  const { reason, block } = proof;
  const proof_block = block?.toString() ?? null;
  return { ...row, proof: reason === null ? 'storage' : null, proof_reason: reason, proof_block };
}

export function showToken({ token, balance, facts }: Pick<ResolvedBalance, 'token' | 'balance' | 'facts'>) {
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
