import type { Fraction } from '@chainstead/core';
import { booleanParameter, textParameter } from '@chainstead/http';

/** Query parameters that limit the pools of a price, for {@link PriceLimits}. */
export function priceLimits(descriptions: { readonly inactivity: string; readonly depth: string }) {
  return {
    max_token_inactivity: textParameter('a number from 0', (given) => (DECIMAL.test(given) ? Number(given) : undefined))
      .optional()
      .openapi({ type: 'number', description: descriptions.inactivity }),
    min_pair_side_liquidity_usd: textParameter('a number from 0', parseDecimal)
      .optional()
      .openapi({ type: 'number', description: descriptions.depth }),
  };
}

/** Query parameter that accepts final prices only, for {@link PriceLimits}. */
export const finalParameter = () =>
  booleanParameter({
    default: false,
    description: 'Returns no price that missing blocks, proofs or balances may still change.',
  });

/** Given limits of a price. */
export interface PriceLimits {
  /** Days. */
  readonly max_token_inactivity?: number | undefined;
  /** US dollars. */
  readonly min_pair_side_liquidity_usd?: Fraction | undefined;
  /** Whether only final prices are wanted. */
  readonly final?: boolean | undefined;
}

const DECIMAL = /^\d{1,12}(\.\d{1,6})?$/;

function parseDecimal(given: string): Fraction | undefined {
  if (!DECIMAL.test(given)) return undefined;
  const [whole = '0', digits = ''] = given.split('.');
  return { numerator: BigInt(`${whole}${digits}`), denominator: 10n ** BigInt(digits.length) };
}
