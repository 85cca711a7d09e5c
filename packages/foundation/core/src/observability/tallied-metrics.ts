import { Counter, Gauge, type Registry } from 'prom-client';

interface Definition<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: L[];
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

export class ReadGauge<L extends string> extends Gauge<L> {
  readonly #sources: { readonly labels: Labels<L>; readonly read: () => number }[];

  constructor(definition: Definition<L>) {
    const sources: { readonly labels: Labels<L>; readonly read: () => number }[] = [];
    super({
      ...definition,
      collect() {
        for (const { labels, read } of sources) this.set(labels, read());
      },
    });
    this.#sources = sources;
  }

  addSource(labels: Labels<L>, read: () => number): void {
    this.#sources.push({ labels, read });
  }
}
