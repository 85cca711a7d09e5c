import { createMetricsRegistry, type Registry, silentLogger } from '@chainstead/core';
import { createSyncMetrics } from '@chainstead/sync';
import { requestObserver } from '../../packages/http/src/request-observer.ts';
import { createJobMetrics } from '../../packages/jobs/src/job-metrics.ts';
import { createPoolMetrics } from '../../packages/rpc/src/pool-metrics.ts';

/** A registry that holds every metric of the program, made by the code that makes them there. */
export function createEveryMetric(): Registry {
  const metrics = createMetricsRegistry();
  const logger = silentLogger();
  createSyncMetrics(metrics);
  createPoolMetrics(metrics);
  createJobMetrics(metrics, logger);
  requestObserver({ logger, metrics });
  return metrics;
}
