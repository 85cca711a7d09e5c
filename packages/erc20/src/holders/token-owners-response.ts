import { indexedSchema } from '@chainstead/answers';
import { type Address, decimalAmount } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { percentOfSupply } from '../balances/percent-of-supply.ts';
import type { TokenFacts } from '../token-facts/get-token-facts.ts';
import type { OwnerLabel } from './owner-labels.ts';
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
  { account, balance }: TokenOwner,
  about: {
    readonly facts: TokenFacts | null;
    readonly labels: ReadonlyMap<Address, OwnerLabel>;
    readonly codes: ReadonlyMap<Address, boolean>;
  },
): z.infer<typeof ownerSchema> {
  const { facts, labels, codes } = about;
  const label = labels.get(account);
  const supply = facts?.totalSupply ?? null;
  return {
    owner_address: account,
    owner_address_label: label?.label ?? null,
    entity: label?.entity ?? null,
    entity_logo: label?.entityLogo ?? null,
    balance: balance.toString(),
    balance_formatted: decimalAmount(balance.toString(), facts?.decimals ?? 0),
    usd_value: null,
    is_contract: codes.get(account) ?? false,
    percentage_relative_to_total_supply: supply === null ? null : percentOfSupply(balance, BigInt(supply)),
  };
}
