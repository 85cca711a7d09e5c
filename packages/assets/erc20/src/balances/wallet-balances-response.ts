import { decimalAmount } from '@chainstead/core';
import { view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { PROOF_REASONS, type ShownProof } from '../balance-proofs/fetch-proofs.ts';
import { percentOfSupply } from './balance-questions.ts';
import type { ResolvedBalance } from './resolve-wallet-balances.ts';

const { address, flag, integer, text } = wire;
const digitsSchema = z.string().openapi({ pattern: '^[0-9]+$', example: '102847' });
const digits = wire.wire(digitsSchema, String);

type HeldToken = Pick<ResolvedBalance, 'token' | 'balance' | 'facts'>;

function shownToken({ token, balance, facts }: HeldToken) {
  return { ...facts, token, balance };
}

const tokenFields = {
  token_address: address.of('token'),
  name: text.orNull(),
  symbol: text.orNull(),
  logo: text.orNull(),
  thumbnail: text.orNull('Same as logo', 'logo'),
  decimals: integer.orNull('0 if the contract has none. null until it is read'),
  balance: digits('In base units of the token'),
  possible_spam: flag.of('possibleSpam'),
  verified_contract: flag('true if an imported token list contains the token', 'verified'),
  total_supply: digits.orNull.of('totalSupply'),
  total_supply_formatted: text.orNull(({ totalSupply, decimals }) =>
    totalSupply === null || decimals === null ? null : decimalAmount(totalSupply, decimals),
  ),
  percentage_relative_to_total_supply: wire
    .wire(z.number())
    .orNull('Percentage of the supply', ({ totalSupply, balance }) =>
      totalSupply === null ? null : percentOfSupply(balance, BigInt(totalSupply)),
    ),
  security_score: wire.wire(z.null())(() => null),
} satisfies Record<string, wire.Field<ReturnType<typeof shownToken>> | wire.SameField<never>>;

const tokenView = view(null, shownToken, tokenFields);
export const tokenBalanceShape = tokenView.schema.shape;
export const showToken = tokenView.show;

/** Absent: not requested. Null: not proven, or proven. */
interface WithProof {
  readonly proof: ShownProof | undefined;
}

/** docs/api/wallets.md#token-balances */
export const balanceView = view(
  'Erc20Balance',
  (held: ResolvedBalance, proof?: ShownProof) => ({
    ...shownToken(held),
    ...{ proof, block: held.balanceBlock },
  }),
  {
    ...tokenFields,
    balance_block: digits('Block number. The balance is the one after this block', 'block'),
    proof: wire.wire(z.literal('storage').nullable().optional())(
      'With proof=true: true if the state of the chain contains exactly this balance. null if not proven',
      ({ proof }: WithProof) => proof && (proof.reason === null ? 'storage' : null),
    ),
    proof_reason: wire.wire(z.enum(PROOF_REASONS).nullable().optional())(
      'With proof=true: the reason if the balance is not proven. null if it is',
      ({ proof }: WithProof) => proof?.reason,
    ),
    proof_block: wire.wire(digitsSchema.nullable().optional())(
      'With proof=true: the block whose state root proves the balance',
      ({ proof }: WithProof) => proof && (proof.block?.toString() ?? null),
    ),
  },
);
