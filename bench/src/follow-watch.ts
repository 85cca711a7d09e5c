/**
 * Lets a chain grow, and looks when the API shows each of its blocks. In a thread of its own: the bench's own heap of some 80 MB took both processors for
 * 100 to 250 ms when it was collected, and what was measured waited. This one has a few.
 */
import { Worker } from 'node:worker_threads';
import { BenchmarkError } from './benchmark-error.ts';

export interface FollowWatch {
  /** The node's, where it is told how many blocks it shows. */
  readonly nodeUrl: string;
  readonly apiUrl: string;
  readonly apiKey: string;
  /** Path and query of the list of which the newest row is asked for. */
  readonly path: string;
  /** Blocks that are there when it begins. */
  readonly blocksBefore: number;
  /** How many are released, one each `blockMs`. */
  readonly blocks: number;
  readonly blockMs: number;
}

/** @returns for each released block the milliseconds from its announcement to the answer that shows it; the last few may lack */
export async function watchFollowing(plan: FollowWatch): Promise<number[]> {
  const watcher = new Worker(new URL('./follow-watch-worker.ts', import.meta.url), { workerData: plan });
  try {
    return await new Promise<number[]>((resolve, reject) => {
      watcher.once('message', resolve);
      watcher.once('error', reject);
      watcher.once('exit', (code) => reject(new BenchmarkError(`The thread that watches ended with code ${code}`)));
    });
  } finally {
    await watcher.terminate();
  }
}
