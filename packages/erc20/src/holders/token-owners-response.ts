import { indexedSchema } from '@chainstead/answers';
import { type Address, decimalAmount } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import type { TokenOwner } from './tell-token-owners.ts';

const ownerSchema = z
  .object({
    owner_address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    owner_address_label: z.string().nullable(),
    entity: z.string().nullable(),
    entity_logo: z.string().nullable(),
    balance: z.string().openapi({ pattern: '^[0-9]+$', description: "In the token's smallest unit" }),
    balance_formatted: z.string().openapi({ example: '1.5' }),
    usd_value: z.null().openapi({ description: 'Not known' }),
    is_contract: z.boolean().openapi({ description: 'Whether the owner is a contract' }),
    percentage_relative_to_total_supply: z
      .number()
      .nullable()
      .openapi({ description: 'null where the supply is not known, or is less than the balance' }),
  })
  .openapi('TokenOwner');

/** The answer of `getTokenOwners` (docs/provider-contract.md#token-owners). */
export const tokenOwnersSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'From 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'For the next page; null on the last' }),
    indexed: indexedSchema,
    total_supply: z.string().nullable().openapi({ description: 'As the contract says; null until it was asked' }),
    result: z.array(ownerSchema),
  })
  .openapi('TokenOwners');

/** One row of the answer. */
export function showOwner(
  { account, balance, label }: TokenOwner,
  about: {
    /** 0 where it is not known. */
    readonly decimals: number;
    percentOf(balance: bigint): number | null;
    readonly codes: ReadonlyMap<Address, boolean>;
  },
): z.infer<typeof ownerSchema> {
  const { decimals, codes } = about;
  return {
    owner_address: account,
    owner_address_label: label.label,
    entity: label.entity,
    entity_logo: label.entityLogo,
    balance,
    balance_formatted: decimalAmount(balance, decimals),
    usd_value: null,
    is_contract: codes.get(account) ?? false,
    percentage_relative_to_total_supply: about.percentOf(BigInt(balance)),
  };
}
