import type { Registry } from 'prom-client';

/**
 * The registered metric of this name and kind, or a new one: several objects of a process share their metrics.
 * @param definition as for the metric's constructor, including `registers`
 */
export function sharedMetric<Metric, Definition extends { readonly name: string }>(
  registry: Registry,
  Kind: new (definition: Definition) => Metric,
  definition: NoInfer<Definition>,
): Metric {
  const metric: unknown = registry.getSingleMetric(definition.name);
  return metric instanceof Kind ? metric : new Kind(definition);
}
