import type { ChainId } from '@chainstead/core';
import { rawSql, type Sql, sql } from '@chainstead/db';
import type { SubjectProjection } from '../dataset/projection.ts';

/** Between records of requests. After weeks without one, a subject's rows are deleted. */
export const REQUESTED_AGAIN = sql`interval '6 hours'`;

/** A recent request is recorded: `SubjectProjections.keep` need not be called. */
export function isAskNoted(chainId: ChainId | Sql, subject: Sql, { name }: Pick<SubjectProjection, 'name'>): Sql {
  return sql`EXISTS (SELECT FROM subject_projections AS noted WHERE noted.chain_id = ${chainId} AND noted.state = ${rawSql(`'${name}'`)} AND noted.subject = ${subject}
    AND ${isNoted('noted')})`;
}

export function isNoted(row: string): Sql {
  return sql`${rawSql(row)}.asked_at >= now() - ${REQUESTED_AGAIN}`;
}
