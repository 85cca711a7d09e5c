import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Metrics of one process as `Registry.getMetricsAsJSON` gives them: plain data that can cross a process boundary. */
export type MetricFamilies = readonly object[];

export interface MetricsRegistryOptions {
  /** Given to every metric as label `role`. */
  readonly role?: string;
  /** Asked at each scrape for the metrics of other processes, which are answered for as well. */
  readonly otherProcesses?: () => Promise<readonly MetricFamilies[]>;
}

/** A fresh Prometheus registry: one per process, handed to everything that measures. */
export function createMetricsRegistry(options: MetricsRegistryOptions = {}): Registry {
  const registry = options.otherProcesses === undefined ? new Registry() : new JoinedRegistry(options.otherProcesses);
  if (options.role !== undefined) registry.setDefaultLabels({ role: options.role });
  return registry;
}

/** Adds what prom-client measures of every Node process: memory, processor time, event loop, garbage collection. */
export function measureProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
}

class JoinedRegistry extends Registry {
  readonly #otherProcesses: () => Promise<readonly MetricFamilies[]>;

  constructor(otherProcesses: () => Promise<readonly MetricFamilies[]>) {
    super();
    this.#otherProcesses = otherProcesses;
  }

  override async metrics(): Promise<string> {
    const families = [await this.getMetricsAsJSON(), ...(await this.#otherProcesses())];
    return AggregatorRegistry.aggregate(families.map((family) => [...family])).metrics();
  }
}
