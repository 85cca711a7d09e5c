import { Histogram, type Registry } from 'prom-client';
import { ReadGauge, TalliedCounter } from './tallied-metrics.ts';

type MakeMetric<Metric> = (name: string, registry: Registry) => Metric;

type MetricsOf<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends MakeMetric<infer Metric> ? Metric : never;
};

/** @param table by the rest of the name in camel case. @returns a registry's metrics: the same at each call */
export function defineMetrics<Table extends Record<string, MakeMetric<unknown>>>(
  prefix: string,
  table: Table,
): (registry: Registry) => MetricsOf<Table> {
  const byRegistry = new WeakMap<Registry, MetricsOf<Table>>();
  return (registry) => {
    const existing = byRegistry.get(registry);
    if (existing !== undefined) return existing;
    const metrics = Object.entries(table).map(([key, make]) => [
      key,
      make(`${prefix}_${snakeCase(key)}`, registry),
    ]);
    // An object made of entries has lost its keys.
    const created = Object.fromEntries(metrics) as MetricsOf<Table>;
    byRegistry.set(registry, created);
    return created;
  };
}

export function gauge<L extends string = never>(
  help: string,
  labelNames: readonly L[] = [],
): MakeMetric<ReadGauge<L>> {
  return (name, registry) => new ReadGauge({ name, help, labelNames, registers: [registry] });
}

/** Its name ends in `_total`. */
export function counter<L extends string = never>(
  help: string,
  labelNames: readonly L[] = [],
): MakeMetric<TalliedCounter<L>> {
  return (name, registry) =>
    new TalliedCounter({ name: `${name}_total`, help, labelNames, registers: [registry] });
}

export function histogram<L extends string = never>(
  help: string,
  buckets: readonly number[],
  labelNames: readonly L[] = [],
): MakeMetric<Histogram<L>> {
  return (name, registry) =>
    new Histogram({ name, help, buckets: [...buckets], labelNames, registers: [registry] });
}

function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
