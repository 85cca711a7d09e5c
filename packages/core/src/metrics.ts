import { collectDefaultMetrics, Registry } from 'prom-client';
import { createMetricsWriter, joinMetrics, type MetricFamily, type WriteMetrics } from './metrics-text.ts';

export { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Metrics of one process, as plain data that can cross a process boundary. */
export type MetricFamilies = readonly MetricFamily[];

export interface MetricsRegistryOptions {
  /** Given to every metric as label `role`. */
  readonly role?: string;
  /** The same as label `process`: which of the role's processes, where there are several. */
  readonly process?: string;
  /** Asked for the metrics of other processes, which are answered for as well. */
  readonly otherProcesses?: () => Promise<readonly MetricFamilies[]>;
}

/** A registry whose own metrics can be handed to another process. */
export interface MetricsRegistry extends Registry {
  /** The metrics of this process alone. */
  families(): Promise<MetricFamilies>;
}

/** A fresh Prometheus registry: one per process, handed to everything that measures. */
export function createMetricsRegistry(options: MetricsRegistryOptions = {}): MetricsRegistry {
  return new ProcessRegistry(options);
}

/** Adds what prom-client measures of every Node process: memory, processor time, event loop, garbage collection. */
export function measureProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
}

class ProcessRegistry extends Registry implements MetricsRegistry {
  readonly #write: WriteMetrics;
  readonly #otherProcesses: () => Promise<readonly MetricFamilies[]>;

  constructor({ role, process: name, otherProcesses }: MetricsRegistryOptions) {
    super();
    this.#write = createMetricsWriter({
      ...(role !== undefined && { role }),
      ...(name !== undefined && { process: name }),
    });
    this.#otherProcesses = otherProcesses ?? (async () => []);
  }

  families(): Promise<MetricFamilies> {
    return this.#write(this);
  }

  override async metrics(): Promise<string> {
    const [own, others] = await Promise.all([this.families(), this.#otherProcesses()]);
    return joinMetrics([own, ...others]);
  }
}
