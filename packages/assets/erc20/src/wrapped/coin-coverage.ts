/** Elsewhere, the wrapped native token's contract is read each time. */

import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Sql, sql } from '@chainstead/db';
import { type CoveredSubject, subjectCoverage } from '@chainstead/pages';

export const WRAPPED_COIN_MOVES = 'wrapped-coin-moves';

type CoinSubject = Omit<CoveredSubject, 'states'>;

/** CTE `coin_covered`: start of the blocks with both datasets. Empty: their ends differ. */
export function coinCoverage(subject: CoinSubject): Sql {
  return sql`${coverageOfMoves(subject)}, coin_covered AS MATERIALIZED (
  SELECT moves.indexed_from FROM coin_moves_covered AS moves JOIN covered ON covered.indexed_to = moves.indexed_to
)`;
}

export const COIN_COVERED_FROM = sql`(SELECT indexed_from FROM coin_covered)`;

/**
 * For the wrapped native token, `covered` has the blocks with both datasets. `is_counted` is false
 * if their ranges end at different blocks.
 */
export function coverageOfToken(
  { wrappedNative }: Pick<Chain, 'wrappedNative'>,
  token: Address,
  subject: CoinSubject,
): Sql {
  return token === wrappedNative ? coverageOfCoin(subject) : subjectCoverage(subject);
}

function coverageOfCoin(subject: CoinSubject): Sql {
  return sql`${subjectCoverage(subject, 'transfers_')}, ${coverageOfMoves(subject)}, covered AS MATERIALIZED (
  SELECT CASE WHEN moves.indexed_to IS NOT NULL THEN greatest(transfers.indexed_from, moves.indexed_from) END AS indexed_from,
    moves.indexed_to, transfers.chain_to, moves.indexed_to IS NOT NULL AS is_counted
  FROM transfers_covered AS transfers LEFT JOIN coin_moves_covered AS moves ON moves.indexed_to = transfers.indexed_to
)`;
}

function coverageOfMoves(subject: CoinSubject): Sql {
  return subjectCoverage({ ...subject, dataset: WRAPPED_COIN_MOVES }, 'coin_moves_');
}
