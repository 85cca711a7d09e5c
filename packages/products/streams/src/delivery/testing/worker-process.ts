/**
 * A worker that sends webhooks in a separate process, for tests that kill it.
 * Its only argument is {@link WorkerProcessOptions}.
 */
import { type Clock, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createWorkJournal } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import type { EnrichMatch } from '../../enrichment/enrich-match.ts';
import { createWebhookBodies } from '../../enrichment/webhook-bodies.ts';
import { enrichedMatch } from '../../payload/testing/enriched-match.ts';
import { STAGE_CHAIN, startStagedWorker } from './delivery-stage.ts';

export interface WorkerProcessOptions {
  readonly databaseUrl: string;
  readonly retryDelaysMs?: readonly number[];
  /** Clock offset in milliseconds. Default 0. */
  readonly clockOffsetMs?: number;
  /** Building the webhook of this block kills the process, like running out of memory. */
  readonly deadlyBlock?: number;
}

const options: WorkerProcessOptions = JSON.parse(process.argv[2] ?? '');
const database = openDatabase({
  url: options.databaseUrl,
  applicationName: 'webhook worker',
  poolSize: 8,
  logger: silentLogger(),
});
// These processes are killed often: the next one must resume soon.
const clock: Clock = { ...systemClock, now: () => systemClock.now() + (options.clockOffsetMs ?? 0) };
const journal = createWorkJournal({ database, logger: silentLogger(), metrics: createMetricsRegistry() });
await journal.start();
const enrich: EnrichMatch = async ({ match, block }) => {
  // Wait until others are in flight too.
  await systemClock.sleep(50);
  if (block.number === options.deadlyBlock) process.kill(process.pid, 'SIGKILL');
  return enrichedMatch(match, STAGE_CHAIN);
};
const bodies = createWebhookBodies({ database, chains: [{ chain: STAGE_CHAIN, enrich }], clock, journal });
const { retryDelaysMs } = options;
const changes = { leaseMs: 1_000, clock, bodies, ...(retryDelaysMs !== undefined && { retryDelaysMs }) };
await startStagedWorker(database, changes);
process.stdout.write('working\n');
