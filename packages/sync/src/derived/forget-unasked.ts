import type { Chain } from '@chainstead/chains';
import { type Address, type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Database, hexText } from '@chainstead/db';
import type { Dataset } from '../dataset.ts';
import { lockChainCommits } from '../write-batch.ts';
import { clearSubjects } from './build-subjects.ts';
import { subjectStatesOf } from './derived-record.ts';

/** Nobody has asked about them for so long. */
const FORGOTTEN_AFTER = "interval '30 days'";
/** Of one transaction, for which commits of the chain wait. */
const SUBJECTS_AT_ONCE = 10;

const LOOK_AGAIN_MS = 60_000;

export interface ForgetOptions {
  readonly chain: Chain;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Forgets subjects that nobody asks about any more, until the signal aborts. A failure is logged and tried again later. */
export async function keepForgetting(options: ForgetOptions, signal: AbortSignal): Promise<void> {
  const { chain, database, datasets, clock, logger } = options;
  while (!signal.aborted) {
    try {
      while (!signal.aborted && (await forgetUnasked(database, chain, datasets)) > 0);
    } catch (error) {
      if (!signal.aborted)
        logger.warn(
          { chain: chain.key, error: errorText(error) },
          'What nobody asks about any more could not be forgotten, it is tried again',
        );
    }
    await sleepUnlessAborted(clock, LOOK_AGAIN_MS, signal);
  }
}

/** Forgets some of the subjects that nobody asks about any more, and what was kept of them. @returns how many */
export async function forgetUnasked(database: Database, chain: Chain, datasets: readonly Dataset[]): Promise<number> {
  let forgotten = 0;
  for (const { state } of subjectStatesOf(datasets)) {
    const old = `chain_id = $1 AND state = $2 AND asked_at < now() - ${FORGOTTEN_AFTER}`;
    const [some] = await database.query(`SELECT FROM kept_subjects WHERE ${old} LIMIT 1`, [chain.id, state.name]);
    if (some === undefined) continue;
    forgotten += await database.transaction(async (transaction) => {
      await lockChainCommits(transaction, chain);
      const subjects = await transaction.query<{ address: Address }>(
        `DELETE FROM kept_subjects WHERE (subject, chain_id, state) IN (
           SELECT subject, chain_id, state FROM kept_subjects WHERE ${old} ORDER BY asked_at LIMIT ${SUBJECTS_AT_ONCE})
         RETURNING ${hexText('subject')} AS address`,
        [chain.id, state.name],
      );
      const addresses = subjects.map(({ address }) => address);
      await clearSubjects(transaction, chain, state, addresses);
      return subjects.length;
    });
  }
  return forgotten;
}
