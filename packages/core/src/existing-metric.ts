import type { Registry } from 'prom-client';

/** The metric of this name and kind that was registered before: things of which a process has several share their metrics. */
export function existingMetric<M>(registry: Registry, name: string, kind: new (...args: never[]) => M): M | undefined {
  const metric: unknown = registry.getSingleMetric(name);
  return metric instanceof kind ? metric : undefined;
}
