import { Histogram, type Registry, TalliedCounter } from '@chainstead/core';

/** From a key lookup in memory to a full scan by mistake. Seconds. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const REQUESTS = 'chainstead_http_requests_total';
const DURATIONS = 'chainstead_http_request_duration_seconds';

/** The Prometheus metrics of all HTTP requests of a process. */
export interface RequestMetrics {
  readonly requests: TalliedCounter<'method' | 'route' | 'status'>;
  readonly durations: Histogram<'method' | 'route'>;
}

/** Registers the metrics, or gives those that were registered before: routed and raw requests share them. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  const requests = registry.getSingleMetric(REQUESTS);
  const durations = registry.getSingleMetric(DURATIONS);
  const registers = [registry];
  return {
    requests:
      requests instanceof TalliedCounter
        ? requests
        : new TalliedCounter({
            name: REQUESTS,
            help: 'Requests answered, by route pattern, method and status',
            labelNames: ['method', 'route', 'status'],
            registers,
          }),
    durations:
      durations instanceof Histogram
        ? durations
        : new Histogram({
            name: DURATIONS,
            help: 'Time from the request to its answer, by route pattern and method',
            labelNames: ['method', 'route'],
            buckets: DURATION_BUCKETS,
            registers,
          }),
  };
}
