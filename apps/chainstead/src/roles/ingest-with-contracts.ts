import type { Chain } from '@chainstead/chains';
import {
  type ContractMetrics,
  dropRemovedTables,
  readContractsState,
  suspendLargeContracts,
} from '@chainstead/contracts/datasets';
import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Database, failureLevel } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync/datasets';
import type { Configuration } from '../configuration/index.ts';
import { readIndexedDatasets } from '../session/chain-session.ts';

/** Between looks for changed contracts and complete factories. */
const LOOK_MS = 250;
const LOOKS_PER_SIZE = 40;

export interface ContractsWatch {
  readonly chain: Chain;
  readonly contractMetrics: ContractMetrics;
  readonly database: Database;
  readonly configuration: Configuration;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Starts again with other datasets after each change. @param ingest resolves on abort */
export async function ingestWithContracts(
  watch: ContractsWatch,
  ingest: (datasets: readonly Dataset[], signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const known = await readPatiently(watch, signal);
    if (known === null) return;
    const ending = new AbortController();
    const changed = new AbortController();
    const watching = abortWhenChanged(watch, known.state, changed, AbortSignal.any([signal, ending.signal]));
    await ingest(known.datasets, AbortSignal.any([signal, changed.signal]));
    ending.abort();
    await watching;
    // The end block may come before events of new children are read.
    if (signal.aborted) return;
    const now = changed.signal.aborted ? null : await readPatiently(watch, signal);
    if (!changed.signal.aborted && (now?.state ?? known.state) === known.state) return;
    watch.logger.info('Contracts changed, their datasets are read again');
  }
}

async function readPatiently(
  { database, configuration, clock, logger }: ContractsWatch,
  signal: AbortSignal,
): Promise<{ readonly state: string; readonly datasets: readonly Dataset[] } | null> {
  while (!signal.aborted) {
    try {
      // Read first: a later change costs one more round.
      const state = await readContractsState(database);
      return { state, datasets: await readIndexedDatasets(database, configuration) };
    } catch (error) {
      logger[failureLevel(error)](
        { error: errorText(error) },
        'Contracts could not be read, they are read again',
      );
      await sleepUnlessAborted(clock, LOOK_MS, signal);
    }
  }
  return null;
}

async function abortWhenChanged(
  watch: ContractsWatch,
  state: string,
  changed: AbortController,
  signal: AbortSignal,
): Promise<void> {
  const { database, chain, configuration, contractMetrics, clock, logger } = watch;
  for (let looks = 0; ; looks++) {
    await sleepUnlessAborted(clock, LOOK_MS, signal);
    if (signal.aborted) return;
    try {
      if (looks % LOOKS_PER_SIZE === 0) {
        const suspended = await suspendLargeContracts(database, chain, configuration.contractBytesMax);
        contractMetrics.suspended.set({ chain: chain.key }, suspended);
        await dropRemovedTables(database, null, 1);
      }
      if ((await readContractsState(database)) === state) continue;
      changed.abort();
      return;
    } catch (error) {
      logger.debug({ error: errorText(error) }, 'Contracts could not be read, they are read again');
    }
  }
}
