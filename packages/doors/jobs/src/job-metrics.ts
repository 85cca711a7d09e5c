import {
  answerWithin,
  Counter,
  errorText,
  Gauge,
  Histogram,
  type Logger,
  type Registry,
  sharedMetric,
} from '@chainstead/core';
import { failureLevel, outageOr } from '@chainstead/db';

type JobOutcome = 'completed' | 'retried' | 'failed' | 'stalled' | 'interrupted';

export interface AttemptMetrics {
  finished(queue: string, outcome: JobOutcome): void;
  took(queue: string, seconds: number): void;
  /** Sets 0 before the first attempt, so that the first failure is visible. */
  worked(queue: string): void;
}

export interface JobMetrics extends AttemptMetrics {
  watchDepth(queue: string, read: ReadDepth): () => void;
}

type ReadDepth = () => Promise<Readonly<Record<string, number>>>;

const READ_MS = 1_000;

export function createAttemptMetrics(registry: Registry): AttemptMetrics {
  const registers = [registry];
  const outcomes = sharedMetric(registry, Counter<'queue' | 'outcome'>, {
    name: 'chainstead_jobs_total',
    help: 'Number of job attempts by outcome: completed, retried, failed (permanently), stalled (the worker died), interrupted (the process ended or the database became unavailable)',
    labelNames: ['queue', 'outcome'],
    registers,
  });
  const durations = sharedMetric(registry, Histogram<'queue'>, {
    name: 'chainstead_job_seconds',
    help: 'Time from start to end of one job attempt',
    labelNames: ['queue'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  });
  return {
    finished: (queue, outcome) => outcomes.inc({ queue, outcome }),
    took: (queue, seconds) => durations.observe({ queue }, seconds),
    worked: (queue) => {
      for (const outcome of ['completed', 'failed']) outcomes.inc({ queue, outcome }, 0);
    },
  };
}

const watched = new WeakMap<Registry, Map<string, ReadDepth>>();

export function createJobMetrics(registry: Registry, logger: Logger): JobMetrics {
  const sources = watched.get(registry) ?? watchDepths(registry, logger);
  return {
    ...createAttemptMetrics(registry),
    watchDepth(queue, read) {
      sources.set(queue, read);
      return () => sources.delete(queue);
    },
  };
}

function watchDepths(registry: Registry, logger: Logger): Map<string, ReadDepth> {
  const registers = [registry];
  const sources = new Map<string, ReadDepth>();
  watched.set(registry, sources);
  const stale = new Gauge({
    name: 'chainstead_jobs_depth_stale',
    help: '1 if the queue depth is outdated because Postgres does not respond, otherwise 0',
    labelNames: ['queue'],
    registers,
    collect: () => refresh(),
  });
  const depth = new Gauge({
    name: 'chainstead_jobs_depth',
    help: 'Number of due rows by queue and state, read at each scrape and counted up to 10,000. See chainstead_jobs_depth_stale',
    labelNames: ['queue', 'state'],
    registers,
    collect: () => refresh(),
  });
  let refreshing: Promise<void> | null = null;

  function refresh(): Promise<void> {
    refreshing ??= readAll().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  async function readAll(): Promise<void> {
    await Promise.all(
      [...sources].map(async ([queue, read]) => {
        try {
          const states = Object.entries(await answerWithin(READ_MS, read()));
          for (const [state, jobs] of states) depth.set({ queue, state }, jobs);
          stale.set({ queue }, 0);
        } catch (error) {
          // A failed read must not remove other metrics.
          stale.set({ queue }, 1);
          logger[failureLevel(outageOr(error))]({ queue, reason: errorText(error) }, 'Queue depth could not be read');
        }
      }),
    );
  }

  return sources;
}
