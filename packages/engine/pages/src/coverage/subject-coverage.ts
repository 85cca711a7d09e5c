import type { Chain } from '@chainstead/chains';
import { joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import type { Indexed } from '@chainstead/http';
import type { Projection, SubjectKind } from '@chainstead/sync/datasets';
import { CALLS_USED_UP, type HistoryStatus, isNoted } from '@chainstead/sync/requests';
import { type ChainInSql, hasContradicted } from './block-span.ts';

/** Its values stand in several places of a statement: pass fragments. */
export interface CoveredSubject {
  readonly kind: SubjectKind;
  readonly recordedAs?: `${SubjectKind}-${string}`;
  readonly subject: Sql;
  readonly chainId: ChainInSql;
  readonly dataset: string;
  /** Further known blocks: `first_block`, `last_block`. @default none */
  readonly followed?: Sql;
  readonly states?: readonly Projection[];
}

/** CTEs up to `covered`: `indexed_from` and `indexed_to` of the newest run, and `chain_to`. */
export function subjectCoverage(of: CoveredSubject, prefix = ''): Sql {
  const { kind, recordedAs = kind, subject, chainId, dataset, followed } = of;
  const [known, joined, covered] = [
    rawSql(`${prefix}known`),
    rawSql(`${prefix}joined`),
    rawSql(`${prefix}covered`),
  ];
  const more =
    followed === undefined
      ? rawSql('')
      : sql`UNION ALL SELECT first_block, last_block, last_block FROM (${followed}) AS followed`;
  const chainTo =
    kind === 'emitter'
      ? sql`greatest(max(chain_last), (SELECT checkpoint FROM sync_chains WHERE chain_id = ${chainId}))`
      : sql`max(chain_last)`;
  return sql`${known} AS (
  SELECT first_block, last_block, last_block AS chain_last FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = ${dataset}
  UNION ALL
  SELECT first_block, last_block, NULL FROM subject_ranges
  WHERE chain_id = ${chainId} AND kind = ${recordedAs} AND subject = ${subject} AND dataset = ${dataset}
  ${more}
), ${joined} AS (
  SELECT first_block, last_block, chain_last,
    max(last_block) OVER (ORDER BY first_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
  FROM ${known}
), ${covered} AS MATERIALIZED (
  SELECT max(first_block) FILTER (WHERE coalesce(reached < first_block - 1, true)) AS indexed_from, max(last_block) AS indexed_to,
    ${chainTo} AS chain_to
  FROM ${joined}
)`;
}

/** CTE `ranges` after {@link subjectCoverage}: the same blocks as disjoint ranges. */
export const SUBJECT_RANGES = sql`ranges AS (
  SELECT min(first_block) AS first_block, max(last_block) AS last_block FROM (
    SELECT first_block, last_block, count(*) FILTER (WHERE coalesce(reached < first_block, true)) OVER (ORDER BY first_block) AS island
    FROM joined) AS parts
  GROUP BY island
)`;

export function firstBlockOf({ kind, subject, chainId }: CoveredSubject, chainFirst: Sql): Sql {
  return kind !== 'wallet' && kind !== 'trader'
    ? sql`coalesce((SELECT created_block FROM tokens WHERE address = ${subject} AND chain_id = ${chainId}), ${chainFirst})`
    : chainFirst;
}

export function isUncovered(subject: CoveredSubject, { firstBlock }: Pick<Chain, 'firstBlock'>): Sql {
  return sql`(covered.chain_to IS NULL OR covered.indexed_from IS NULL OR covered.indexed_from > ${firstBlockOf(subject, rawSql(firstBlock))})`;
}

export function subjectColumns({ chainId, subject, dataset, states = [] }: CoveredSubject): Sql {
  const built = states.map((state) => isSubjectBuilt(chainId, subject, state));
  return sql`covered.indexed_from, covered.indexed_to, covered.chain_to, ${built.length === 0 ? rawSql('true') : joinSql(built, ' AND ')} AS is_built,
  ${hasContradicted(chainId, dataset, { lowest: rawSql('covered.indexed_from'), highest: rawSql('covered.indexed_to') })} AS is_contradicted,
  history.status, history.status = 'pending' AND coalesce(history.due_at > now() AND history.error_code IS DISTINCT FROM ${CALLS_USED_UP}, false) AS waits, history.calls_made, history.calls_estimated,
  history.error_message`;
}

export function subjectHistory({ kind, subject, chainId }: CoveredSubject): Sql {
  return sql`backfill_requests AS history ON history.chain_id = ${chainId} AND history.kind = ${kind} AND history.subject = ${subject}`;
}

export interface SubjectColumns {
  readonly indexedFrom: number | null;
  readonly indexedTo: number | null;
  readonly chainTo: number | null;
  readonly isBuilt: boolean;
  readonly isContradicted: boolean;
  readonly status: HistoryStatus | null;
  readonly waits: boolean | null;
  readonly callsMade: number | null;
  readonly callsEstimated: number | null;
  readonly errorMessage: string | null;
}

export interface SubjectCoverage {
  /** Complete: from the first block that counts to the newest, all are indexed and counted. */
  readonly indexed: Indexed;
  readonly isBuilt: boolean;
  readonly isCovered: boolean;
  readonly history: {
    readonly status: HistoryStatus;
    /** The missing blocks may still be reorganized. */
    readonly waits: boolean;
    readonly callsMade: number;
    readonly callsEstimated: number | null;
    readonly message: string | null;
  } | null;
}

/** @param firstBlock below which there is nothing of the subject */
export function readSubject(
  chain: Chain,
  row: SubjectColumns | undefined,
  firstBlock: number = chain.firstBlock,
): SubjectCoverage {
  const span = { fromBlock: row?.indexedFrom ?? null, toBlock: row?.indexedTo ?? null };
  // Without any block of the chain, its height is unknown.
  const isCovered =
    row !== undefined && row.chainTo !== null && span.fromBlock !== null && span.fromBlock <= firstBlock;
  const isBuilt = row?.isBuilt ?? false;
  const isSound = row?.isContradicted !== true;
  return {
    indexed: { ...span, complete: isCovered && isBuilt && isSound },
    isBuilt,
    isCovered,
    history:
      row === undefined || row.status === null
        ? null
        : {
            status: row.status,
            waits: row.waits ?? false,
            callsMade: row.callsMade ?? 0,
            callsEstimated: row.callsEstimated,
            message: row.errorMessage,
          },
  };
}

export function isBuilt(chainId: ChainInSql, { name, version }: Projection): Sql {
  return sql`EXISTS (SELECT FROM projections WHERE chain_id = ${chainId} AND state = ${name} AND version = ${version} AND status = 'built')`;
}

/** For states of requested subjects only. @param subject its 20 bytes */
export function isSubjectBuilt(
  chainId: ChainInSql,
  subject: Sql,
  { name, version }: Pick<Projection, 'name' | 'version'>,
): Sql {
  return sql`EXISTS (SELECT FROM subject_projections AS kept JOIN projections AS known USING (chain_id, state)
    WHERE kept.chain_id = ${chainId} AND kept.state = ${name} AND kept.subject = ${subject} AND kept.built_to IS NULL AND NOT kept.is_stale
      AND known.version = ${version})`;
}

export interface ReadingSources {
  readonly reads: ReadDatabase;
  readonly database: ReadDatabase;
}

export async function readBuilt<Found extends { readonly isBuilt: boolean }>(
  { reads, database }: ReadingSources,
  read: (from: ReadDatabase) => Promise<Found>,
): Promise<Found> {
  const found = await read(reads);
  return found.isBuilt || reads === database ? found : read(database);
}

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
