/**
 * Lets a chain grow, and records when the API shows each of its blocks. Runs in a worker thread: collecting the bench's heap of about 80 MB took both processors for
 * 100 to 250 ms, and delayed the measured requests. This one has a few.
 */
import { Worker } from 'node:worker_threads';
import { BenchmarkError } from './benchmark-error.ts';

export interface FollowWatch {
  /** URL of the node that sets the number of visible blocks. */
  readonly nodeUrl: string;
  readonly apiUrl: string;
  readonly apiKey: string;
  /** Path and query of the list whose newest row is requested. */
  readonly path: string;
  /** Blocks that are there when it begins. */
  readonly blocksBefore: number;
  /** How many are released, one each `blockMs`. */
  readonly blocks: number;
  readonly blockMs: number;
}

/** @returns for each released block the milliseconds from its announcement to the response that shows it; the last few may be missing */
export async function watchFollowing(plan: FollowWatch): Promise<number[]> {
  const watcher = new Worker(new URL('./follow-watch-worker.ts', import.meta.url), { workerData: plan });
  try {
    return await new Promise<number[]>((resolve, reject) => {
      watcher.once('message', resolve);
      watcher.once('error', reject);
      watcher.once('exit', (code) =>
        reject(new BenchmarkError(`The thread that watches ended with code ${code}`)),
      );
    });
  } finally {
    await watcher.terminate();
  }
}
