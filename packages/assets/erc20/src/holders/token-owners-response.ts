import { type Address, cents, decimalAmount, type Fraction } from '@chainstead/core';
import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { dollarsOfAmount } from '../token-values/token-prices.ts';
import type { TokenOwner } from './resolve-token-owners.ts';

const ownerSchema = z
  .object({
    owner_address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    owner_address_label: z.string().nullable(),
    entity: z.string().nullable(),
    entity_logo: z.string().nullable(),
    balance: z.string().openapi({ pattern: '^[0-9]+$', description: 'In base units of the token' }),
    balance_formatted: z.string().openapi({ example: '1.5' }),
    usd_value: z.string().nullable().openapi({
      pattern: '^[0-9]+\\.[0-9]{2}$',
      description: 'US dollars of the balance at the last indexed block. null if the token has no price',
    }),
    is_contract: z.boolean().openapi({ description: 'true if the owner is a contract' }),
    percentage_relative_to_total_supply: z
      .number()
      .nullable()
      .openapi({ description: 'null if the supply is unknown or less than the balance' }),
  })
  .openapi('TokenOwner');

/** docs/api/tokens.md#token-owners */
export const tokenOwnersSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    total_supply: z
      .string()
      .nullable()
      .openapi({ description: 'As returned by the contract. null until it is read' }),
    usd_value_limit: z.string().nullable().openapi({
      pattern: '^[0-9]+\\.[0-9]{2}$',
      description:
        'US dollars that the pools of the token can pay out. null without a price, or if a feed prices it',
    }),
    result: z.array(ownerSchema),
  })
  .openapi('TokenOwners');

export function showOwner(
  { account, balance, label }: TokenOwner,
  shown: {
    readonly decimals: number | null;
    percentOf(balance: bigint): number | null;
    readonly codes: ReadonlyMap<Address, boolean>;
    /** US dollars per whole token. */
    readonly price: Fraction | undefined;
  },
): z.infer<typeof ownerSchema> {
  const { decimals, percentOf, codes, price } = shown;
  const value = dollarsOfAmount(BigInt(balance), decimals, price);
  return {
    owner_address: account,
    owner_address_label: label.label,
    entity: label.entity,
    entity_logo: label.entityLogo,
    balance,
    balance_formatted: decimalAmount(balance, decimals ?? 0),
    usd_value: value === null ? null : cents(value),
    is_contract: codes.get(account) ?? false,
    percentage_relative_to_total_supply: percentOf(BigInt(balance)),
  };
}
