/** A worker that sends webhooks, in a process of its own, for tests that kill it. Its only argument is {@link WorkerProcessOptions}. */
import { type Clock, silentLogger, systemClock } from '@chainstead/core';
import { openDatabase } from '@chainstead/db';
import type { RetryPolicy } from '../retry-policy.ts';
import { startStagedWorker } from './delivery-stage.ts';

export interface WorkerProcessOptions {
  readonly databaseUrl: string;
  readonly retries?: RetryPolicy;
  /** How far its clock is ahead. Default 0. */
  readonly clockOffsetMs?: number;
}

const options: WorkerProcessOptions = JSON.parse(process.argv[2] ?? '');
const database = openDatabase({
  url: options.databaseUrl,
  applicationName: 'webhook worker',
  poolSize: 8,
  logger: silentLogger(),
});
// Its kind is killed often: the next one is to go on soon.
const clock: Clock = { ...systemClock, now: () => systemClock.now() + (options.clockOffsetMs ?? 0) };
const changes = { leaseMs: 1_000, clock };
await startStagedWorker(database, options.retries === undefined ? changes : { ...changes, retries: options.retries });
process.stdout.write('working\n');
