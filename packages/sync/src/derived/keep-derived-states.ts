import type { Chain } from '@chainstead/chains';
import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createChunkSizing } from '../chunk-size.ts';
import { retryCommit } from '../commit-retry.ts';
import type { Dataset } from '../dataset.ts';
import { buildDerivedPiece } from './build-whole.ts';
import { registerDerivedStates } from './derived-record.ts';

export interface KeepDerivedOptions {
  readonly chain: Chain;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Rows of a piece: a fraction of a second, for which commits of the chain wait. */
const ROWS_PER_PIECE = 5_000;
const BLOCKS_FIRST = 100;
const BLOCKS_MAX = 100_000;
/** 16 MB of each table. */
const PAGES_PER_PIECE = 2_000;
/** Another version of the program may have changed rows without the states that it does not know. */
const LOOK_AGAIN_MS = 10_000;

/**
 * Builds the derived states of a chain that are new or have changed, from the rows that are there, until the signal aborts. A failure is logged and tried
 * again later: it holds up neither the head nor the history.
 */
export async function keepDerivedStates(options: KeepDerivedOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await buildDerivedStates(options, signal);
    await sleepUnlessAborted(options.clock, LOOK_AGAIN_MS, signal);
  }
}

/** Builds what is to be built now. */
export async function buildDerivedStates(options: KeepDerivedOptions, signal: AbortSignal): Promise<void> {
  const { chain, database, datasets, logger } = options;
  const sizing = createChunkSizing({ logsPerChunk: ROWS_PER_PIECE, blocksFirst: BLOCKS_FIRST, blocksMax: BLOCKS_MAX });
  try {
    for (const { name, version } of await registerDerivedStates(database, chain, datasets))
      logger.info({ chain: chain.key, state: name, version }, 'Derived state is new or has changed');
    while (!signal.aborted) {
      const size = { blocks: sizing.next(), rows: 2 * ROWS_PER_PIECE, pages: PAGES_PER_PIECE };
      const piece = await retryCommit(() => buildDerivedPiece(database, chain, datasets, size));
      if (piece === null) return;
      if (piece.blocks > 0) sizing.seen(piece.blocks, piece.rows);
      if (piece.status === 'built')
        logger.info({ chain: chain.key, state: piece.state.name }, 'Derived state is built');
    }
  } catch (error) {
    if (!signal.aborted)
      logger.warn(
        { chain: chain.key, error: errorText(error) },
        'A derived state could not be built further, it is tried again; answers from it say that they are not complete',
      );
  }
}
