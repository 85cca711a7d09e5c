import { Counter, errorText, Gauge, Histogram, type Logger, type Registry } from '@chainstead/core';
import { within } from './backend-watch.ts';

type JobOutcome = 'completed' | 'retried' | 'failed' | 'stalled' | 'interrupted';

export interface JobMetrics {
  finished(queue: string, outcome: JobOutcome): void;
  took(queue: string, seconds: number): void;
  /** The queue is worked on in this process: what is counted begins at 0, so that the first failure is seen as one. */
  worked(queue: string): void;
  /** Has the queue's depth read at every scrape. @returns how to stop that */
  watchDepth(queue: string, source: DepthSource): () => void;
}

/** Where a queue's depth comes from. */
export interface DepthSource {
  /** Jobs by state. */
  read(): Promise<Readonly<Record<string, number>>>;
  /** Whether the queue's home can be reached: it is not asked otherwise. */
  isUp(): boolean;
}

/** A scrape waits no longer than that for a queue. */
const READ_MS = 1_000;

/** Registers the metrics of all queues of a process. */
export function createJobMetrics(registry: Registry, logger: Logger): JobMetrics {
  const registers = [registry];
  const sources = new Map<string, DepthSource>();
  const outcomes = new Counter({
    name: 'chainstead_jobs_total',
    help: 'Attempts of jobs by outcome: completed, retried, failed for good, stalled (their worker died), interrupted (their process ended, or the database went away)',
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
  const stale = new Gauge({
    name: 'chainstead_jobs_depth_stale',
    help: '1 while the depth of the queue is the last that could be read, as its home does not answer; 0 otherwise',
    labelNames: ['queue'],
    registers,
    collect: () => refresh(),
  });
  const depth = new Gauge({
    name: 'chainstead_jobs_depth',
    help: 'Jobs in the queue by state, read at the scrape; see chainstead_jobs_depth_stale',
    labelNames: ['queue', 'state'],
    registers,
    collect: () => refresh(),
  });
  let refreshing: Promise<void> | null = null;

  /** Once for both gauges of a scrape. */
  function refresh(): Promise<void> {
    refreshing ??= readAll().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  async function readAll(): Promise<void> {
    await Promise.all(
      [...sources].map(async ([queue, source]) => {
        try {
          if (!source.isUp()) throw new Error('the home of the queues is away');
          const states = Object.entries(await within(READ_MS, source.read()));
          for (const [state, jobs] of states) depth.set({ queue, state }, jobs);
          stale.set({ queue }, 0);
        } catch (error) {
          // One unreachable queue must not take the other metrics away; what was read last stays.
          stale.set({ queue }, 1);
          if (source.isUp()) logger.warn({ queue, reason: errorText(error) }, 'Queue depth could not be read');
        }
      }),
    );
  }

  return {
    finished: (queue, outcome) => outcomes.inc({ queue, outcome }),
    took: (queue, seconds) => durations.observe({ queue }, seconds),
    worked: (queue) => {
      for (const outcome of ['completed', 'failed']) outcomes.inc({ queue, outcome }, 0);
    },
    watchDepth(queue, source) {
      sources.set(queue, source);
      return () => sources.delete(queue);
    },
  };
}
