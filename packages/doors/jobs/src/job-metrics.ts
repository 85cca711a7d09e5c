import {
  answerWithin,
  counter,
  defineMetrics,
  errorText,
  gauge,
  histogram,
  type Logger,
  type Registry,
  readTogether,
} from '@chainstead/core';
import { failureLevel, outageOr } from '@chainstead/db';

export type JobMetrics = ReturnType<typeof createJobMetrics>;

export const createJobMetrics = defineMetrics('chainstead', {
  jobs: counter(
    'Number of job attempts by outcome: completed, retried, failed (permanently), stalled (the worker died), interrupted (the process ended or the database became unavailable)',
    ['queue', 'outcome'],
  ),
  jobSeconds: histogram(
    'Time from start to end of one job attempt',
    [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    ['queue'],
  ),
});

/** The first failure is visible if counters start at 0. */
export function beginQueueMetrics({ jobs }: JobMetrics, queue: string): void {
  for (const outcome of ['completed', 'failed']) jobs.inc({ queue, outcome }, 0);
}

export const createDepthMetrics = defineMetrics('chainstead_jobs', {
  depthStale: gauge('1 if the queue depth is outdated because Postgres does not respond, otherwise 0', ['queue']),
  depth: gauge(
    'Number of due rows by queue and state, read at each scrape and counted up to 10,000. See chainstead_jobs_depth_stale',
    ['queue', 'state'],
  ),
});

const READ_MS = 1_000;

/** @returns ends it */
export function measureDepth(
  queue: string,
  read: () => Promise<object>,
  { metrics, logger }: { readonly metrics: Registry; readonly logger: Logger },
): () => void {
  const { depth, depthStale } = createDepthMetrics(metrics);
  return readTogether([depthStale, depth], async () => {
    try {
      const states = Object.entries(await answerWithin(READ_MS, read()));
      for (const [state, jobs] of states) depth.set({ queue, state }, jobs);
      depthStale.set({ queue }, 0);
    } catch (error) {
      // A failed read must not remove other metrics.
      depthStale.set({ queue }, 1);
      logger[failureLevel(outageOr(error))]({ queue, reason: errorText(error) }, 'Queue depth could not be read');
    }
  });
}
