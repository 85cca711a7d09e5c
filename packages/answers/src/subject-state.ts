import type { Chain } from '@chainstead/chains';
import { type HistoryStatus, isNoted, type KeptState } from '@chainstead/sync';
import { readSubject, type SubjectCoverage, type SubjectInSql } from './subject-coverage.ts';

/** What an answer about a subject knows of, as {@link subjectState} has it. Null where there is no such row. */
export type SubjectState = readonly [
  span: readonly [from: number | null, to: number | null, chainTo: number | null],
  kept: readonly [isBuilt: boolean, isAskNoted: boolean] | null,
  history:
    | readonly [status: HistoryStatus, waits: boolean, made: number, estimated: number | null, message: string | null]
    | null,
];

/**
 * What `subjectColumns` tell, and whether it is noted that the subject was asked about, as one JSON array in SQL: for a page that takes no longer itself
 * than columns and joins would. Stands behind the CTEs of `subjectCoverage`.
 */
export function subjectState(subject: SubjectInSql, state: KeptState): string {
  return `json_build_array((SELECT json_build_array(indexed_from, indexed_to, chain_to) FROM covered), ${keptAndNoted(subject, state)},
    (SELECT json_build_array(status, status = 'pending' AND due_at IS NOT NULL, calls_made, calls_estimated, error_message)
      FROM subject_histories WHERE chain_id = ${subject.chainId} AND kind = '${subject.kind}' AND subject = ${subject.subject}))`;
}

/** As `isKept` and `isAskNoted`, by one look at the row. */
function keptAndNoted({ subject, chainId }: SubjectInSql, { name, version }: KeptState): string {
  return `(SELECT json_build_array(built_to IS NULL AND NOT is_stale AND EXISTS (SELECT FROM derived_states AS known
      WHERE known.chain_id = kept.chain_id AND known.state = kept.state AND known.version = ${version}), ${isNoted('kept')})
    FROM kept_subjects AS kept WHERE kept.chain_id = ${chainId} AND kept.state = '${name}' AND kept.subject = ${subject})`;
}

/** @param firstBlock below which there is nothing of the subject */
export function readSubjectState(
  chain: Chain,
  [[from, to, chainTo], kept, history]: SubjectState,
  firstBlock: number,
): { readonly coverage: SubjectCoverage; readonly isAskNoted: boolean; readonly isChainIndexed: boolean } {
  const [status, waits, made, estimated, message] = history ?? [null, null, null, null, null];
  const [isBuilt, isAskNoted] = kept ?? [false, false];
  const columns = {
    indexed_from: from,
    indexed_to: to,
    chain_to: chainTo,
    is_built: isBuilt,
    status,
    waits,
    calls_made: made,
    calls_estimated: estimated,
    error_message: message,
  };
  return { coverage: readSubject(chain, columns, firstBlock), isAskNoted, isChainIndexed: chainTo !== null };
}
