import { errorText, sleepUnlessAborted } from '@chainstead/core';
import { failureLevel, type WorkJournal } from '@chainstead/db';
import type { RecoverSigners } from '@chainstead/proof';
import {
  helpBackfill,
  listFillingChains,
  proveRead,
  readHelpable,
  type SyncMetrics,
} from '@chainstead/sync/ingest';
import type { ChainConfiguration } from '../configuration/index.ts';
import { readIndexedDatasets } from '../session/chain-session.ts';
import { openHistory, openPool, startPool } from '../session/upstream-pools.ts';
import type { RoleContext } from './role.ts';

const LOOK_MS = 2_000;
const AFTER_FAILURE_MS = 15_000;

export interface Helping {
  readonly context: RoleContext;
  readonly metrics: SyncMetrics;
  readonly recoverSigners: RecoverSigners;
  readonly journal: WorkJournal;
  readonly chains: readonly ChainConfiguration[];
  isBusy(): boolean;
}

/** One chain at a time, until the abort. Calls its nodes only meanwhile. */
export async function keepHelping(helping: Helping, signal: AbortSignal): Promise<void> {
  const { chains, context, isBusy } = helping;
  const { clock, database, logger } = context;
  if (chains.length === 0) return;
  const ids = chains.map(({ chain }) => chain.id);
  for (;;) {
    await sleepUnlessAborted(clock, LOOK_MS, signal);
    if (signal.aborted) return;
    if (isBusy()) continue;
    try {
      const filling = await listFillingChains(database, ids);
      for (const configured of chains.filter(({ chain }) => filling.has(chain.id)))
        if (await help(configured, helping, signal)) break;
    } catch (error) {
      if (signal.aborted) return;
      logger[failureLevel(error)](
        { error: errorText(error) },
        'Backfill help interrupted, the chain leader continues',
      );
      await sleepUnlessAborted(clock, AFTER_FAILURE_MS, signal);
    }
  }
}

async function help(configured: ChainConfiguration, helping: Helping, signal: AbortSignal): Promise<boolean> {
  const { chain } = configured;
  const { clock, configuration, database, logger } = helping.context;
  const planned = {
    chain,
    database,
    datasets: await readIndexedDatasets(database, configuration),
    retention: configured.retention,
    order: configured.backfillOrder,
    proof: configured.backfillProof,
  };
  const ranges = await readHelpable(planned, configured.endBlock);
  if (ranges.length === 0) return false;
  const pool = openPool(configured, helping.context);
  const sources = openHistory(configured, { ...helping.context, recoverSigners: helping.recoverSigners });
  try {
    const ending = new AbortController();
    const ended = AbortSignal.any([signal, ending.signal]);
    const onFailure = async (): Promise<void> => ending.abort();
    if (!(await startPool(pool, { chain, clock, logger, signal: ended, onFailure }))) return false;
    const fields = { chain: chain.key, block_range: ranges.map(({ from, to }) => `${from}-${to}`).join(' ') };
    logger.info(fields, 'Helping with the backfill of a chain that another process leads');
    const { journal, metrics, recoverSigners } = helping;
    const options = {
      ...planned,
      pool,
      sources,
      clock,
      logger,
      metrics,
      recoverSigners,
      journal,
      policy: configured.proof,
      proveRead: configuration.verifyBlocksPerSecond === 0 ? undefined : proveRead,
    };
    const { logs } = await helpBackfill(options, ranges, signal);
    logger.info({ ...fields, logs }, 'Backfill complete, helping ended');
    return true;
  } finally {
    await pool.close();
    await sources?.close();
  }
}
