import type { Chain } from '@chainstead/chains';
import { type Sql, sql } from '@chainstead/db';
import type { Projection } from '@chainstead/sync/datasets';
import { isNoted } from '@chainstead/sync/requests';
import { hasContradicted } from './block-span.ts';
import { type CoveredSubject, readSubject, type SubjectCoverage } from './subject-coverage.ts';

export type CurrentCoverage = Omit<SubjectCoverage, 'history'>;

export type SubjectSnapshot = readonly [
  span: readonly [from: number | null, to: number | null, chainTo: number | null, isContradicted: boolean],
  /** null if it was never requested. */
  kept: readonly [isBuilt: boolean, isAskNoted: boolean] | null,
];

/** One JSON array costs less than columns and joins. After the CTEs of `subjectCoverage`. */
export function subjectState(
  { subject, chainId, dataset }: CoveredSubject,
  { name, version }: Pick<Projection, 'name' | 'version'>,
): Sql {
  const span = { lowest: sql`indexed_from`, highest: sql`indexed_to` };
  const isContradicted = hasContradicted(chainId, dataset, span);
  return sql`json_build_array((SELECT json_build_array(indexed_from, indexed_to, chain_to, ${isContradicted}) FROM covered),
    (SELECT json_build_array(built_to IS NULL AND NOT is_stale AND EXISTS (SELECT FROM projections AS known
        WHERE known.chain_id = kept.chain_id AND known.state = kept.state AND known.version = ${version}), ${isNoted('kept')})
      FROM subject_projections AS kept WHERE kept.chain_id = ${chainId} AND kept.state = ${name} AND kept.subject = ${subject}))`;
}

export function readSubjectState(
  chain: Chain,
  [[from, to, chainTo, isContradicted], kept]: SubjectSnapshot,
  firstBlock: number,
): { readonly coverage: CurrentCoverage; readonly isAskNoted: boolean; readonly isChainIndexed: boolean } {
  const [isBuilt, isAskNoted] = kept ?? [false, false];
  const span = { indexedFrom: from, indexedTo: to, chainTo, isContradicted };
  const columns = { ...span, isBuilt, ...NO_HISTORY };
  return { coverage: readSubject(chain, columns, firstBlock), isAskNoted, isChainIndexed: chainTo !== null };
}

const NO_HISTORY = { status: null, waits: null, callsMade: null, callsEstimated: null, errorMessage: null };
