import type { Registry } from 'prom-client';

/**
 * The metric of this name and kind that was registered before, or else a new one: things of which a process has several share their metrics.
 * @param definition as the metric's own constructor takes it, `registers` included
 */
export function sharedMetric<Metric, Definition extends { readonly name: string }>(
  registry: Registry,
  Kind: new (definition: Definition) => Metric,
  definition: NoInfer<Definition>,
): Metric {
  const metric: unknown = registry.getSingleMetric(definition.name);
  return metric instanceof Kind ? metric : new Kind(definition);
}
