import type { Database } from '@chainstead/db';
import type { TraitsWork } from './schema.ts';

/** Where the traits of a chain's collections stand. Collections. */
export interface TraitsStatus {
  readonly chainId: number;
  /** Whose figures are shown. */
  readonly computed: number;
  /** With more ids or traits than are counted. */
  readonly tooLarge: number;
  /** What those wait for that are worked on, shown before or not. */
  readonly atWork: Readonly<Record<TraitsWork, number>>;
}

/** The chains of which any traits were ever asked for. */
export async function readTraitsStatuses(database: Database): Promise<TraitsStatus[]> {
  const rows = await database.query<Omit<TraitsStatus, 'atWork'> & TraitsStatus['atWork']>(
    `SELECT chain_id AS "chainId", count(*) FILTER (WHERE generation IS NOT NULL AND NOT is_too_large)::int AS computed,
       count(*) FILTER (WHERE is_too_large)::int AS "tooLarge", ${STEPS.map((work) => `count(*) FILTER (WHERE work = '${work}')::int AS ${work}`).join(', ')}
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
