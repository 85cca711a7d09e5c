/** A worker that sends webhooks, in a process of its own, for tests that kill it. Its only argument is {@link WorkerProcessOptions}. */
import { silentLogger } from '@chainstead/core';
import { openDatabase } from '@chainstead/db';
import type { RetryPolicy } from '../retry-policy.ts';
import { type JobsHome, startStagedWorker } from './delivery-stage.ts';

export interface WorkerProcessOptions {
  readonly databaseUrl: string;
  readonly jobs: JobsHome;
  readonly retries?: RetryPolicy;
}

const options: WorkerProcessOptions = JSON.parse(process.argv[2] ?? '');
const database = openDatabase({
  url: options.databaseUrl,
  applicationName: 'webhook worker',
  poolSize: 8,
  logger: silentLogger(),
});
// Its kind is killed often: the next one is to go on soon.
const changes = { leaseMs: 1_000, lockMs: 500 };
await startStagedWorker(
  database,
  options.jobs,
  options.retries === undefined ? changes : { ...changes, retries: options.retries },
);
process.stdout.write('working\n');
