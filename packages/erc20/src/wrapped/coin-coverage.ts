/**
 * Of which blocks it is known what was wrapped and unwrapped of a chain's coin, in SQL. Balances of the wrapped coin follow from what is indexed
 * only where that is known of the same blocks as transfers are; elsewhere its contract is asked each time.
 */
import { type SubjectInSql, subjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';

export const WRAPPED_COIN_MOVES = 'wrapped-coin-moves';

/** A wallet or a contract whose transfers count. */
type CoinSubject = Omit<SubjectInSql, 'states'>;

/**
 * CTE `coin_covered`, to follow those of {@link subjectCoverage} of transfers: one row with `indexed_from`, the block from which on without a
 * break both are known of all blocks up to the newest; none where they end elsewhere than transfers do.
 */
export function coinCoverage(subject: CoinSubject): string {
  return `${coverageOfMoves(subject)}, coin_covered AS MATERIALIZED (
  SELECT moves.indexed_from FROM coin_moves_covered AS moves JOIN covered ON covered.indexed_to = moves.indexed_to
)`;
}

/** From {@link coinCoverage}; null where there is none. */
export const COIN_COVERED_FROM = '(SELECT indexed_from FROM coin_covered)';

/**
 * In place of {@link subjectCoverage} of transfers where the subject is a token. Of the wrapped coin `covered` has the blocks of which both are
 * known, and `is_counted`: false where they end elsewhere than transfers do, so that there are none up to the newest.
 */
export function coverageOfToken(
  { wrappedNative }: Pick<Chain, 'wrappedNative'>,
  token: Address,
  subject: CoinSubject,
): string {
  return token === wrappedNative ? coverageOfCoin(subject) : subjectCoverage(subject);
}

function coverageOfCoin(subject: CoinSubject): string {
  return `${subjectCoverage(subject, 'transfers_')}, ${coverageOfMoves(subject)}, covered AS MATERIALIZED (
  SELECT CASE WHEN moves.indexed_to IS NOT NULL THEN greatest(transfers.indexed_from, moves.indexed_from) END AS indexed_from,
    moves.indexed_to, transfers.chain_to, moves.indexed_to IS NOT NULL AS is_counted
  FROM transfers_covered AS transfers LEFT JOIN coin_moves_covered AS moves ON moves.indexed_to = transfers.indexed_to
)`;
}

function coverageOfMoves(subject: CoinSubject): string {
  return subjectCoverage({ ...subject, dataset: WRAPPED_COIN_MOVES }, 'coin_moves_');
}
