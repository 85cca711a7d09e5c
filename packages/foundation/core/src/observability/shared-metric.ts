import type { Registry } from 'prom-client';

/** Several objects of a process share their metrics. @param definition as for the metric's constructor, with `registers` */
export function sharedMetric<Metric, Definition extends { readonly name: string }>(
  registry: Registry,
  Kind: new (definition: Definition) => Metric,
  definition: NoInfer<Definition>,
): Metric {
  const metric: unknown = registry.getSingleMetric(definition.name);
  return metric instanceof Kind ? metric : new Kind(definition);
}
