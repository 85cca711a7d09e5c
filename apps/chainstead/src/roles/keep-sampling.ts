import { readAptosStatuses } from '@chainstead/aptos';
import { errorText, sleepUnlessAborted } from '@chainstead/core';
import { failureLevel, sampleTables } from '@chainstead/db';
import { sampleChains, saveSamples } from '@chainstead/sync';
import type { RoleContext } from './role.ts';

/** Several workers do so; of one minute the first sample counts. Milliseconds. */
const INTERVAL_MS = 60_000;

/**
 * Keeps where each chain stands, by the minute, and how large tables are, by the hour: a few statements beside ingestion, which does nothing for it.
 * Settles once the signal aborts.
 */
export async function keepSampling(
  { configuration, database, logger, clock }: RoleContext,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await sampleChains(database);
      await sampleAptos();
      await sampleTables(database);
    } catch (error) {
      logger[failureLevel(error)]({ error: errorText(error) }, 'Where chains stand could not be kept');
    }
    await sleepUnlessAborted(clock, INTERVAL_MS, signal);
  }

  async function sampleAptos(): Promise<void> {
    const statuses = await readAptosStatuses(database, configuration.aptos.datasets);
    const samples = statuses.map(({ chain, head, checkpoint, coverage }) => {
      const covered = coverage.reduce((sum, { range }) => sum + range.to - range.from + 1, 0);
      return { chain, head, checkpoint, covered, rows: null };
    });
    await saveSamples(database, samples);
  }
}
