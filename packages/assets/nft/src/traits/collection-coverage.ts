import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { SubjectCoverage } from '@chainstead/pages';
import {
  type CollectionStats,
  collectionStatsStatement,
  readCollectionRows,
} from '../owners/collection-subjects.ts';

export async function readCollectionCoverage(database: Database, chain: Chain, contract: Address) {
  const stored = await readCollectionRows<CollectionStats>(
    database,
    chain,
    collectionStatsStatement(chain, contract),
  );
  return { ...stored, ids: Number(stored.rows[0]?.ids ?? 0) };
}

export function isHistoryComing({ isCovered, history }: Pick<SubjectCoverage, 'isCovered' | 'history'>): boolean {
  if (isCovered || history === null || history.waits) return false;
  return history.status === 'pending' || history.status === 'running';
}
