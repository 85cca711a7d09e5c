import type { Fraction } from '@chainstead/core';
import { booleanParameter, textParameter } from '@chainstead/http';
import { readDecimal } from './shown-values.ts';

export function priceLimits(descriptions: { readonly inactivity: string; readonly depth: string }) {
  return {
    max_token_inactivity: textParameter('a number from 0', (given) =>
      DECIMAL.test(given) ? Number(given) : undefined,
    )
      .optional()
      .openapi({ type: 'number', description: descriptions.inactivity }),
    min_pair_side_liquidity_usd: textParameter('a number from 0', parseDecimal)
      .optional()
      .openapi({ type: 'number', description: descriptions.depth }),
  };
}

export const finalParameter = () =>
  booleanParameter({
    default: false,
    description: 'Returns no price that missing blocks, proofs or balances may still change.',
  });

export interface PriceLimits {
  /** Days. */
  readonly max_token_inactivity?: number | undefined;
  /** US dollars. */
  readonly min_pair_side_liquidity_usd?: Fraction | undefined;
  readonly final?: boolean | undefined;
}

const DECIMAL = /^\d{1,12}(\.\d{1,6})?$/;

const parseDecimal = (given: string) => (DECIMAL.test(given) ? readDecimal(given) : undefined);
