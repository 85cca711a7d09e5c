import { Counter, Gauge, type Registry } from 'prom-client';

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
