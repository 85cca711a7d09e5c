import type { SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { readCollectionRows } from '../owners/collection-statement.ts';
import { type CollectionStatsRow, collectionStatsStatement } from '../owners/collection-stats-statement.ts';

/** What is known of a collection's ids. */
export interface CollectionCoverage extends SubjectCoverage {
  /** Ids that somebody holds. */
  readonly ids: number;
}

export async function readCollectionCoverage(
  database: Database,
  chain: Chain,
  contract: Address,
): Promise<CollectionCoverage> {
  const found = await readCollectionRows<CollectionStatsRow>(
    database,
    chain,
    collectionStatsStatement(chain, contract),
  );
  return { ...found, ids: Number(found.rows[0]?.ids ?? 0) };
}

/** Whether a node is still asked for blocks of the collection: its ids will be more. */
export function isHistoryComing({ isCovered, history }: Pick<SubjectCoverage, 'isCovered' | 'history'>): boolean {
  if (isCovered || history === null || history.waits) return false;
  return history.status === 'pending' || history.status === 'running';
}
