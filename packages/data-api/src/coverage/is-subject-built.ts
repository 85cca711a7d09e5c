import { type Sql, sql } from '@chainstead/db';
import type { Projection } from '@chainstead/sync';
import type { ChainInSql } from './block-span.ts';

/** Returns whether a state counts all rows of a subject, for states of requested subjects only. @param subject its 20 bytes */
export function isSubjectBuilt(
  chainId: ChainInSql,
  subject: Sql,
  { name, version }: Pick<Projection, 'name' | 'version'>,
): Sql {
  return sql`EXISTS (SELECT FROM subject_projections AS kept JOIN projections AS known USING (chain_id, state)
    WHERE kept.chain_id = ${chainId} AND kept.state = ${name} AND kept.subject = ${subject} AND kept.built_to IS NULL AND NOT kept.is_stale
      AND known.version = ${version})`;
}
