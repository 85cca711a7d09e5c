import { type Database, rawSql, sql } from '@chainstead/db';
import type { TraitsWork } from './traits-at-work.ts';

export interface TraitsStatus {
  readonly chainId: number;
  readonly computed: number;
  readonly tooLarge: number;
  readonly atWork: Readonly<Record<TraitsWork, number>>;
}

export async function readTraitsStatuses(database: Database): Promise<TraitsStatus[]> {
  const rows = await database.query<Omit<TraitsStatus, 'atWork'> & TraitsStatus['atWork']>(
    sql`SELECT chain_id, count(*) FILTER (WHERE generation IS NOT NULL AND NOT is_too_large)::int AS computed,
       count(*) FILTER (WHERE is_too_large)::int AS "tooLarge", ${rawSql(STEPS.map((work) => `count(*) FILTER (WHERE work = '${work}')::int AS ${work}`).join(', '))}
     FROM nft_collection_traits GROUP BY chain_id ORDER BY chain_id`,
  );
  return rows.map(({ chainId, computed, tooLarge, history, queue, settle, compute, improve }) => ({
    chainId,
    computed,
    tooLarge,
    atWork: { history, queue, settle, compute, improve },
  }));
}

const STEPS: readonly TraitsWork[] = ['history', 'queue', 'settle', 'compute', 'improve'];
