import { Counter, errorText, Gauge, Histogram, type Logger, type Registry } from '@chainstead/core';

type JobOutcome = 'completed' | 'retried' | 'failed' | 'stalled' | 'interrupted';

export interface JobMetrics {
  finished(queue: string, outcome: JobOutcome): void;
  took(queue: string, seconds: number): void;
  /** Has the queue's depth read at every scrape. @returns how to stop that */
  watchDepth(queue: string, read: () => Promise<Readonly<Record<string, number>>>): () => void;
}

/** Registers the metrics of all queues of a process. */
export function createJobMetrics(registry: Registry, logger: Logger): JobMetrics {
  const registers = [registry];
  const readers = new Map<string, () => Promise<Readonly<Record<string, number>>>>();
  const outcomes = new Counter({
    name: 'chainstead_jobs_total',
    help: 'Attempts of jobs by outcome: completed, retried, failed for good, stalled (their worker died), interrupted (their process ended)',
    labelNames: ['queue', 'outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'chainstead_job_seconds',
    help: 'Time that a handler took for one attempt',
    labelNames: ['queue'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  });
  new Gauge({
    name: 'chainstead_jobs_depth',
    help: 'Jobs in the queue by state, read at the scrape',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      this.reset();
      await Promise.all(
        [...readers].map(async ([queue, read]) => {
          try {
            for (const [state, jobs] of Object.entries(await read())) this.set({ queue, state }, jobs);
          } catch (error) {
            // One unreachable queue must not take the other metrics away.
            logger.warn({ queue, reason: errorText(error) }, 'Queue depth could not be read');
          }
        }),
      );
    },
  });
  return {
    finished: (queue, outcome) => outcomes.inc({ queue, outcome }),
    took: (queue, seconds) => durations.observe({ queue }, seconds),
    watchDepth(queue, read) {
      readers.set(queue, read);
      return () => readers.delete(queue);
    },
  };
}
