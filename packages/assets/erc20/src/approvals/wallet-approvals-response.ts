import { type Address, decimalAmount, type Fraction, nearestNumber, smallerFraction } from '@chainstead/core';
import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { dollarsOfAmount, type TokenDollars } from '../token-values/token-prices.ts';
import type { WalletApproval, WalletApprovals } from './wallet-approvals-page.ts';

const addressText = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '18' });

const approvalSchema = z
  .object({
    block_number: digits.openapi({ description: 'From the newest Approval event of the token and spender' }),
    block_timestamp: z.iso.datetime({ precision: 3 }).nullable(),
    transaction_hash: z.string().nullable().openapi({ pattern: '^0x[0-9a-f]{64}$' }),
    value: digits.openapi({
      description:
        'Current allowance in base units, as returned by the token. If the token returns none, from the event',
    }),
    value_formatted: z
      .string()
      .nullable()
      .openapi({ description: 'null until the decimals are known', example: '1.5' }),
    unlimited: z.boolean().openapi({ description: 'true if the allowance is practically unlimited' }),
    token: z.object({
      address: addressText,
      address_label: z.string().nullable(),
      name: z.string().nullable(),
      symbol: z.string().nullable(),
      logo: z.string().nullable(),
      possible_spam: z.boolean(),
      verified_contract: z.boolean(),
      current_balance: digits
        .nullable()
        .openapi({ description: 'Balance of the wallet. null if the token does not return it' }),
      current_balance_formatted: z.string().nullable(),
      usd_price: z
        .number()
        .nullable()
        .openapi({ description: 'US dollars per whole token at the last indexed block' }),
      usd_at_risk: z.number().nullable().openapi({
        description:
          'US dollars that the spender can take: the smaller of allowance and balance. null if one is unknown',
      }),
    }),
    spender: z.object({
      address: addressText,
      address_label: z.string().nullable(),
      entity: z.string().nullable(),
      entity_logo: z.string().nullable(),
    }),
  })
  .openapi('WalletApproval');

/** docs/api/wallets.md#wallet-approvals */
export const walletApprovalsSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    limit: z.int().min(1).openapi({ description: 'Same as page_size' }),
    cursor: z
      .string()
      .nullable()
      .openapi({ description: 'Cursor of the next page. null on the last page. Earlier pages may be short' }),
    indexed: indexedSchema,
    result: z.array(approvalSchema),
  })
  .openapi('WalletApprovals');

/** Null if it was not read in time, or the token returned none. */
export interface PresentApproval {
  readonly approval: WalletApproval;
  readonly allowance: string | null;
  readonly balance: string | null;
}

interface PresentApprovals extends Pick<WalletApprovals, 'blockOf' | 'tokenOf' | 'labelOf'> {
  readonly present: readonly PresentApproval[];
  readonly prices: ReadonlyMap<Address, TokenDollars>;
}

/** Omits used-up approvals. */
export function showApprovals(list: PresentApprovals): z.infer<typeof approvalSchema>[] {
  return list.present.filter(({ allowance }) => allowance !== '0').map((present) => showApproval(list, present));
}

function showApproval(
  { blockOf, tokenOf, labelOf, prices }: PresentApprovals,
  { approval, allowance, balance }: PresentApproval,
): z.infer<typeof approvalSchema> {
  const token = tokenOf(approval.token);
  const { label, entity, entityLogo } = labelOf(approval.spender);
  const price = prices.get(token.address)?.usd;
  const value = allowance ?? approval.value;
  const dollars = (amount: string): Fraction | null => dollarsOfAmount(BigInt(amount), token.decimals, price);
  const [allowed, held] = [dollars(value), balance === null ? null : dollars(balance)];
  const formatted = (amount: string): string | null =>
    token.decimals === null ? null : decimalAmount(amount, token.decimals);
  return {
    block_number: String(approval.block_number),
    block_timestamp: blockOf(approval).block_timestamp,
    transaction_hash: approval.transaction_hash,
    value,
    value_formatted: formatted(value),
    unlimited: isUnlimited(BigInt(value)),
    token: {
      address: token.address,
      address_label: labelOf(token.address).label,
      name: token.name,
      symbol: token.symbol,
      logo: token.logo,
      possible_spam: token.possibleSpam,
      verified_contract: token.verified,
      current_balance: balance,
      current_balance_formatted: balance === null ? null : formatted(balance),
      usd_price: price === undefined ? null : nearestNumber(price),
      usd_at_risk: allowed === null || held === null ? null : nearestNumber(smallerFraction(allowed, held)),
    },
    spender: { address: approval.spender, address_label: label, entity, entity_logo: entityLogo },
  };
}

/** Tokens that decrease it leave slightly less than 2^256 − 1; UNI and COMP have 96 bits. */
function isUnlimited(amount: bigint): boolean {
  return amount >= 2n ** 255n || amount === 2n ** 96n - 1n;
}
