/** A worker of histories in a process of its own, for tests that kill it. Its only argument is {@link WorkerProcessOptions}. */
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { openDatabase } from '@chainstead/db';
import { createJobs } from '@chainstead/jobs';
import { nftTransfers } from '../../nft-transfers/dataset.ts';
import { createHistories } from '../histories.ts';
import { stageChain, stagePool } from './history-stage.ts';

export interface WorkerProcessOptions {
  readonly databaseUrl: string;
  readonly jobs: { readonly databaseUrl: string } | { readonly redisUrl: string };
  readonly chainId: number;
  readonly nodeUrl: string;
  readonly logRangeMax: number;
}

const options: WorkerProcessOptions = JSON.parse(process.argv[2] ?? '');
const logger = silentLogger();
const chain = stageChain(options.chainId);
const pool = stagePool(chain, options.nodeUrl, options.logRangeMax);
await pool.start();
const jobs = await createJobs({ ...options.jobs, logger, metrics: createMetricsRegistry() });
const histories = createHistories({ jobs, chains: [chain], datasets: [nftTransfers], maxCalls: 10_000, perKey: 100 });
await histories.work({
  database: openDatabase({ url: options.databaseUrl, applicationName: 'history worker', poolSize: 5, logger }),
  chains: [{ chain, pool }],
  clock: systemClock,
  logger,
  metrics: createMetricsRegistry(),
  sweepEveryMs: 200,
});
process.stdout.write('working\n');
