import type { Chain } from '@chainstead/chains';
import type { Indexed } from '@chainstead/data-api';
import { InvalidParameterError, NotFoundError } from '@chainstead/http';
import { unknownExchange } from '@chainstead/markets';

/** Why a token has no price. */
export type Refusal =
  | 'no-pools'
  | 'too-shallow'
  | 'implausible'
  | 'no-native-price'
  | 'inactive'
  | 'not-final'
  | 'unknown-exchange'
  | 'beyond-head';

/** The error of a response without a price. @param newest the newest indexed block */
export function errorOf(refusal: Refusal, newest: Indexed['toBlock'], chain: Chain): Error {
  switch (refusal) {
    case 'no-pools':
      return new NotFoundError('No liquidity pools found for the specified token address');
    case 'too-shallow':
    // Its pools could not pay out any such value.
    case 'implausible':
      return new NotFoundError('Insufficient liquidity in pools to calculate the price');
    case 'no-native-price':
      return new NotFoundError('Could not determine native-usd price');
    case 'not-final':
      return new NotFoundError('The price of this block may still change');
    case 'inactive':
      return new InvalidParameterError({
        parameter: 'max_token_inactivity',
        message: 'Token is inactive: no swap within the given number of days',
      });
    case 'unknown-exchange':
      return unknownExchange(chain);
    case 'beyond-head':
      return new InvalidParameterError({
        parameter: 'to_block',
        allowed: `at most the newest indexed block (${newest})`,
        message: `to_block must be at most the newest indexed block (${newest})`,
      });
  }
}
