import type { Chain } from '@chainstead/chains';
import { type Address, errorText, sleepUnlessAborted } from '@chainstead/core';
import { type Database, hexText, rawSql, sql } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import { lockChainCommits } from '../rows/commit-lock.ts';
import { clearSubjects } from './build-subjects.ts';
import type { MaintainProjectionsOptions } from './maintain-projections.ts';
import { subjectProjectionsOf } from './projection-record.ts';

const FORGOTTEN_AFTER = sql`interval '30 days'`;
/** Per transaction: the chain's commits wait for it. */
const SUBJECTS_AT_ONCE = 10;

const LOOK_AGAIN_MS = 60_000;

export async function keepForgetting(options: MaintainProjectionsOptions, signal: AbortSignal): Promise<void> {
  const { chain, database, datasets, clock, logger } = options;
  while (!signal.aborted) {
    try {
      while (!signal.aborted && (await forgetUnrequested(database, chain, datasets)) > 0);
    } catch (error) {
      if (!signal.aborted)
        logger.warn(
          { chain: chain.key, error: errorText(error) },
          'Could not delete unrequested derived state, retrying',
        );
    }
    await sleepUnlessAborted(clock, LOOK_AGAIN_MS, signal);
  }
}

export async function forgetUnrequested(database: Database, chain: Chain, datasets: readonly Dataset[]) {
  let forgotten = 0;
  for (const { state } of subjectProjectionsOf(datasets)) {
    const isOld = sql`chain_id = ${chain.id} AND state = ${state.name} AND asked_at < now() - ${FORGOTTEN_AFTER}`;
    const [some] = await database.query(sql`SELECT FROM subject_projections WHERE ${isOld} LIMIT 1`);
    if (some === undefined) continue;
    forgotten += await database.transaction(async (transaction) => {
      await lockChainCommits(transaction, chain);
      const subjects = await transaction.query<{ address: Address }>(
        sql`DELETE FROM subject_projections WHERE (subject, chain_id, state) IN (
           SELECT subject, chain_id, state FROM subject_projections WHERE ${isOld} ORDER BY asked_at LIMIT ${rawSql(SUBJECTS_AT_ONCE)})
         RETURNING ${hexText('subject')} AS address`,
      );
      const addresses = subjects.map(({ address }) => address);
      await clearSubjects(transaction, chain, state, addresses);
      return subjects.length;
    });
  }
  return forgotten;
}
