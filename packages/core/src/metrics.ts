import { Registry } from 'prom-client';

export { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** A fresh Prometheus registry: one per process, handed to everything that measures. */
export function createMetricsRegistry(): Registry {
  return new Registry();
}
