import { collectDefaultMetrics, Registry } from 'prom-client';
import { createMetricsWriter, joinMetrics, type MetricFamily, type WriteMetrics } from './metrics-text.ts';

export { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type MetricFamilies = readonly MetricFamily[];

export interface MetricsRegistryOptions {
  readonly role?: string;
  readonly process?: string;
  readonly otherProcesses?: () => Promise<readonly MetricFamilies[]>;
}

export interface MetricsRegistry extends Registry {
  families(): Promise<MetricFamilies>;
}

export function createMetricsRegistry(options: MetricsRegistryOptions = {}): MetricsRegistry {
  return new ProcessRegistry(options);
}

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
