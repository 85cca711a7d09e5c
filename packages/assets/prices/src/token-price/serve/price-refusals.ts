import type { Chain } from '@chainstead/chains';
import { cents, compareFractions, nearestNumber, smallerFraction } from '@chainstead/core';
import { type ErrorDetails, InvalidParameterError, NotFoundError } from '@chainstead/http';
import { unknownExchange } from '@chainstead/markets/requests';
import { type Indexed, showIndexed } from '@chainstead/pages';
import type { JudgedCandidate } from '../decide/decide-price.ts';
import { type NoPrice, VALUATION_MAX } from '../read/token-price.ts';
import { showCandidates } from './price-candidates.ts';
import { plainDecimal } from './shown-values.ts';

export type Refusal =
  | {
      readonly of: 'no-price';
      readonly why: NoPrice;
      /** Or its wrapped form: the hosted API has another message. */
      readonly isNative: boolean;
      /** An old block: no retry finds states that are missing. */
      readonly isLasting: boolean;
    }
  | { readonly of: 'inactive' | 'not-final' | 'unknown-exchange' | 'beyond-head' };

export interface Refused {
  readonly refusal: Refusal;
  /** Null: not looked up. */
  readonly indexed: Indexed | null;
}

const NO_POOLS = 'No liquidity pools found for the specified token address';
const INSUFFICIENT = 'Insufficient liquidity in pools to calculate the price';

/** Message of the hosted API, and the cause with a remedy. */
const REASONS: Readonly<Record<NoPrice['reason'], readonly [message: string, cause: string]>> = {
  'no-pools': [NO_POOLS, 'No proven pool of the token is known at this block'],
  'no-anchor': [NO_POOLS, 'No pool of the token has a token with a price on its other side'],
  'anchor-unread': [NO_POOLS, 'The price of the token on the other side is not read yet. Retry'],
  'state-unread': [NO_POOLS, 'Pools are known, but none of their states. Retry, or run chainstead backfill'],
  'decimals-unread': [NO_POOLS, 'Decimals of the token, or of the other side, are not read yet. Retry'],
  'too-shallow': [INSUFFICIENT, 'No pool holds min_side_usd on both sides, now and over the window'],
  'depth-unread': [INSUFFICIENT, 'The depth of a pool is not read yet. Retry'],
  unsettled: [INSUFFICIENT, 'Too little of the past of the pool is known. Retry later'],
  implausible: [INSUFFICIENT, 'The supply would be worth more than value_max_usd'],
};

/** Causes at an old block, which only a backfill changes. */
const LASTING: Readonly<Partial<Record<NoPrice['reason'], string>>> = {
  'state-unread': 'Pools are known, but none of their states at this block. Run chainstead backfill for it',
  unsettled: 'Too little of the past of the pool is known at this block. Run chainstead backfill before it',
};

const READ_SECONDS = 5;

/** @param explains adds the considered pools to the details */
export function errorOf({ refusal, indexed }: Refused, chain: Chain, explains = false): Error {
  switch (refusal.of) {
    case 'no-price': {
      const { why, isNative, isLasting } = refusal;
      const [message, cause] = REASONS[why.reason];
      return new NotFoundError(isNative ? 'Could not determine native-usd price' : message, {
        ...showReason(why, explains, isLasting),
        cause: (isLasting && LASTING[why.reason]) || cause,
        ...(indexed !== null && { indexed: showIndexed(indexed) }),
      });
    }
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
        allowed: `at most the newest indexed block (${indexed?.toBlock})`,
        message: `to_block must be at most the newest indexed block (${indexed?.toBlock})`,
      });
  }
}

function showReason(why: NoPrice, explains: boolean, isLasting: boolean): ErrorDetails {
  const { reason } = why;
  switch (reason) {
    case 'no-pools':
    case 'no-anchor':
      return { reason };
    case 'state-unread':
      return { reason, ...(!isLasting && { retry_after_seconds: READ_SECONDS }) };
    case 'anchor-unread':
    case 'decimals-unread':
      return { reason, retry_after_seconds: READ_SECONDS };
    case 'implausible':
      return {
        ...{ reason, price_usd: plainDecimal(why.usd) },
        ...{ value_usd: cents(why.value), value_max_usd: cents(VALUATION_MAX) },
      };
    case 'too-shallow':
    case 'depth-unread':
    case 'unsettled': {
      const { decision, rules } = why;
      const hasNoRetry = isLasting && reason === 'unsettled';
      const seconds = decision.reason === 'unsettled' ? decision.seconds : READ_SECONDS;
      return {
        reason,
        ...showDeepest(decision.candidates),
        min_side_usd: nearestNumber(rules.minSideDepth),
        ...(reason !== 'too-shallow' && !hasNoRetry && { retry_after_seconds: seconds }),
        ...(explains && { candidates: showCandidates(why) }),
      };
    }
  }
}

function showDeepest(candidates: readonly JudgedCandidate[]): ErrorDetails {
  const least = ({ weight, tokenWeight }: JudgedCandidate) => smallerFraction(weight, tokenWeight);
  const [deepest] = candidates.toSorted((a, b) => compareFractions(least(b), least(a)));
  if (deepest === undefined) return {};
  const { pool, weight, tokenWeight } = deepest;
  return { pair_address: pool, anchor_side_usd: cents(weight), token_side_usd: cents(tokenWeight) };
}
