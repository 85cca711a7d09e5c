import { type ReadDatabase, type Sql, sql } from '@chainstead/db';
import type { Projection } from '@chainstead/sync/datasets';
import type { ChainInSql } from './block-span.ts';

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
