import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

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

interface Definition<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly registers: Registry[];
}

export type Tally = { value: number };

type Labels<L extends string> = Readonly<Record<L, string>>;

/** For events of every request: label lookups cost more than counting. */
export class TalliedCounter<L extends string> extends Counter<L> {
  readonly #tallies: (Tally & { readonly labels: Labels<L> })[];

  constructor(definition: Definition<L>) {
    const tallies: (Tally & { readonly labels: Labels<L> })[] = [];
    super({
      ...definition,
      collect() {
        for (const tally of tallies) {
          if (tally.value > 0) this.inc(tally.labels, tally.value);
          tally.value = 0;
        }
      },
    });
    this.#tallies = tallies;
  }

  tally(labels: Labels<L>): Tally {
    const tally = { labels, value: 0 };
    this.#tallies.push(tally);
    return tally;
  }
}

type Reading = () => void | Promise<void>;

/** Sources are read at each scrape. */
export class ReadGauge<L extends string> extends Gauge<L> {
  readonly #readings: Set<Reading>;

  constructor(definition: Definition<L>) {
    const readings = new Set<Reading>();
    super({
      ...definition,
      async collect() {
        await Promise.all([...readings].map((read) => read()));
      },
    });
    this.#readings = readings;
  }

  /** @param read null: the last value stays @param closing then the values are gone, unless another source has the labels */
  addSource(labels: Labels<L>, read: () => number | null, closing?: AbortSignal): void {
    const end = this.addReading(() => {
      const value = read();
      if (value !== null) this.set(labels, value);
    });
    closing?.addEventListener('abort', () => {
      end();
      this.remove(labels);
    });
  }

  /** @param read sets values. @returns ends it */
  addReading(read: Reading): () => void {
    this.#readings.add(read);
    return () => this.#readings.delete(read);
  }
}

/** One reading at a time sets values of all gauges. @returns ends it */
export function readTogether(
  gauges: readonly Pick<ReadGauge<never>, 'addReading'>[],
  read: () => Promise<void>,
): () => void {
  let reading: Promise<void> | null = null;
  const readOnce = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
  const ends = gauges.map((gauge) => gauge.addReading(readOnce));
  return () => {
    for (const end of ends) end();
  };
}

/** Exact to a bucket; null without values. @param bounds upper, ascending, without the last */
export function latencyPercentile(
  bounds: readonly number[],
  counts: readonly number[],
  share: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = total * share;
  for (const [index, count] of counts.entries()) {
    const to = bounds[index];
    if (to === undefined) break;
    const from = bounds[index - 1] ?? 0;
    if (count > 0 && left <= count) return from + ((to - from) * left) / count;
    left -= count;
  }
  return bounds.at(-1) ?? null;
}
