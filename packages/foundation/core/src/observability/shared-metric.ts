import type { Registry } from 'prom-client';

/** For several objects of a process. @param definition with `registers` */
export function sharedMetric<Metric, Definition extends { readonly name: string }>(
  registry: Registry,
  Kind: new (definition: Definition) => Metric,
  definition: NoInfer<Definition>,
): Metric {
  const metric: unknown = registry.getSingleMetric(definition.name);
  return metric instanceof Kind ? metric : new Kind(definition);
}
