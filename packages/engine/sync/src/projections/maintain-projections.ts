import type { Chain } from '@chainstead/chains';
import { type Address, type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Database, hexText, rawSql, sql } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import { createChunkSizing } from '../read/chunk-size.ts';
import { lockChainCommits, retryCommit } from '../rows/commit-retry.ts';
import { clearSubjects } from './build-subjects.ts';
import { buildProjectionPiece } from './build-whole.ts';
import { registerProjections, subjectProjectionsOf } from './projection-record.ts';

interface MaintainProjectionsOptions {
  readonly chain: Chain;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A fraction of a second, during which the chain's commits wait. */
const ROWS_PER_PIECE = 5_000;
const BLOCKS_FIRST = 100;
const BLOCKS_MAX = 100_000;
/** 16 MB of each table. */
const PAGES_PER_PIECE = 2_000;
/** Another version may have changed rows without states that it does not have. */
const LOOK_AGAIN_MS = 10_000;

export async function maintainProjections(
  options: MaintainProjectionsOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await buildProjections(options, signal);
    await sleepUnlessAborted(options.clock, LOOK_AGAIN_MS, signal);
  }
}

export async function buildProjections(options: MaintainProjectionsOptions, signal: AbortSignal): Promise<void> {
  const { chain, database, datasets, logger } = options;
  const sizing = createChunkSizing({
    logsPerChunk: ROWS_PER_PIECE,
    blocksFirst: BLOCKS_FIRST,
    blocksMax: BLOCKS_MAX,
  });
  try {
    for (const { name, version } of await registerProjections(database, chain, datasets))
      logger.info({ chain: chain.key, state: name, version }, 'Derived state is new or has changed');
    while (!signal.aborted) {
      const size = { blocks: sizing.next(), rows: 2 * ROWS_PER_PIECE, pages: PAGES_PER_PIECE };
      const piece = await retryCommit(() => buildProjectionPiece(database, chain, datasets, size));
      if (piece === null) return;
      if (piece.blocks > 0) sizing.seen(piece.blocks, piece.rows);
      if (piece.status === 'built')
        logger.info({ chain: chain.key, state: piece.state.name }, 'Derived state is built');
    }
  } catch (error) {
    if (!signal.aborted)
      logger.warn(
        { chain: chain.key, error: errorText(error) },
        'Could not build a projection, retrying: responses from it are marked as incomplete',
      );
  }
}

const FORGOTTEN_AFTER = sql`interval '30 days'`;
/** Per transaction: the chain's commits wait for it. */
const SUBJECTS_AT_ONCE = 10;

const FORGET_EVERY_MS = 60_000;

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
    await sleepUnlessAborted(clock, FORGET_EVERY_MS, signal);
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
