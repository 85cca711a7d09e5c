/**
 * A wallet backfill worker in a separate process, for tests that kill it. Its only argument is
 * {@link WorkerProcessOptions}.
 */

import {
  type Address,
  type BlockRange,
  createMetricsRegistry,
  silentLogger,
  systemClock,
} from '@chainstead/core';
import { createWorkJournal } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { createDueWork } from '@chainstead/jobs/worker';
import { createOnDemandBackfill } from '@chainstead/pages/on-demand';
import type { LogsQuery, UpstreamPool } from '@chainstead/rpc';
import { nftTransfers } from '../../dataset.ts';
import { stageChain, stagePool, TEST_LOCK_MS } from './history-stage.ts';

export interface WorkerProcessOptions {
  readonly databaseUrl: string;
  readonly chainId: number;
  readonly nodeUrl: string;
  readonly logRangeMax: number;
  /** Reading a range with this block for the wallet ends the process, as running out of memory does. */
  readonly deadly?: { readonly block: number; readonly wallet: Address };
}

const options: WorkerProcessOptions = JSON.parse(process.argv[2] ?? '');
const logger = silentLogger();
const chain = stageChain(options.chainId);
const pool = stagePool(chain, options.nodeUrl, options.logRangeMax);
await pool.start();
const database = openDatabase({
  url: options.databaseUrl,
  applicationName: 'history worker',
  poolSize: 8,
  logger,
});
const journal = createWorkJournal({ database, logger, metrics: createMetricsRegistry() });
await journal.start();
const histories = createOnDemandBackfill({
  chains: [chain],
  datasets: [nftTransfers],
  maxCalls: 10_000,
  perKey: 100,
});
const shared = { database, clock: systemClock, logger, metrics: createMetricsRegistry(), journal };
const dueWork = createDueWork({ ...shared, leaseMs: TEST_LOCK_MS, sweepEveryMs: 200 });
histories.work(dueWork, { ...shared, chains: [{ chain, pool: { ...pool, getLogs: getLogsOrDie } }] });
dueWork.start();

async function getLogsOrDie(...[query, request]: Parameters<UpstreamPool['getLogs']>) {
  const { deadly } = options;
  if (deadly !== undefined && isWithin(deadly.block, query.range) && mentions(query, deadly.wallet)) {
    // Others are in progress then, too.
    await systemClock.sleep(100);
    process.kill(process.pid, 'SIGKILL');
  }
  return pool.getLogs(query, request);
}

function isWithin(block: number, { from, to }: BlockRange): boolean {
  return block >= from && block <= to;
}

function mentions({ indexed = [] }: LogsQuery, wallet: Address): boolean {
  return indexed.some((topics) => topics?.some((topic) => topic.endsWith(wallet.slice(2))) === true);
}

process.stdout.write('working\n');
