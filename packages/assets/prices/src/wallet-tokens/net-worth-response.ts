import type { Chain } from '@chainstead/chains';
import { addFractions, cents, decimalAmount, type Fraction } from '@chainstead/core';
import { type Indexed, indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { sumOf } from './held-values.ts';

const dollars = (description: string) => z.string().openapi({ pattern: '^[0-9]+\\.[0-9]{2}$', description });

/** docs/api/wallets.md#net-worth */
export const netWorthSchema = z
  .object({
    total_networth_usd: dollars('US dollars on all chains'),
    chains: z
      .array(
        z
          .object({
            chain: z.string().openapi({ description: 'Name of the chain' }),
            native_balance: z.string().openapi({
              pattern: '^[0-9]+$',
              description: 'Native balance in base units. 0 if no node returned it',
            }),
            native_balance_formatted: z.string().openapi({ description: 'The same in whole tokens' }),
            native_balance_usd: dollars('Value of the native balance. 0.00 without a price'),
            token_balance_usd: dollars('Value of all tokens with a price'),
            token_balance_usd_uncapped: dollars('The same, without the limit by the depth of the pools'),
            networth_usd: dollars('Sum of both'),
            indexed: indexedSchema,
          })
          .openapi('ChainNetWorth'),
      )
      .openapi({ description: 'Indexed chains' }),
    unsupported_chain_ids: z
      .array(z.string())
      .openapi({ description: 'Always empty: unknown chains are rejected' }),
    unavailable_chains: z
      .array(z.object({ chain_id: z.string().openapi({ description: 'Hexadecimal chain id' }) }))
      .openapi({ description: 'Requested chains that are not indexed' }),
  })
  .openapi('NetWorth');

export interface ChainNetWorth {
  readonly chain: Chain;
  readonly native: bigint;
  /** US dollars of the native balance, and of all tokens. */
  readonly nativeValue: Fraction;
  readonly tokensValue: Fraction;
  /** Without the limit by the depth of the pools. */
  readonly uncappedValue: Fraction;
  readonly indexed: Indexed;
}

export function showNetWorth(
  found: readonly ChainNetWorth[],
  unavailable: readonly Chain[],
): z.infer<typeof netWorthSchema> {
  return {
    total_networth_usd: cents(sumOf(found.flatMap(({ nativeValue, tokensValue }) => [nativeValue, tokensValue]))),
    chains: found.map(({ chain, native, nativeValue, tokensValue, uncappedValue, indexed }) => ({
      chain: chain.key,
      native_balance: native.toString(),
      native_balance_formatted: decimalAmount(native.toString(), chain.native.decimals),
      native_balance_usd: cents(nativeValue),
      token_balance_usd: cents(tokensValue),
      token_balance_usd_uncapped: cents(uncappedValue),
      networth_usd: cents(addFractions(nativeValue, tokensValue)),
      indexed: showIndexed(indexed),
    })),
    unsupported_chain_ids: [],
    unavailable_chains: unavailable.map(({ id }) => ({ chain_id: `0x${id.toString(16)}` })),
  };
}
