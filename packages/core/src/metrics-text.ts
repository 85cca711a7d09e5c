import type { Registry } from 'prom-client';

/** One metric of one process in Prometheus' text format. Strings, since they cross process boundaries at little cost. */
export interface MetricFamily {
  readonly name: string;
  /** The lines `# HELP` and `# TYPE`. */
  readonly head: string;
  /** Its samples, each with a line end. */
  readonly lines: string;
}

type Labels = Readonly<Record<string, string | number>>;

interface Sample {
  readonly value: number;
  readonly labels?: Labels;
  /** Of parts of histograms. */
  readonly metricName?: string;
  /** Of parts of histograms: what all of them are labelled with. */
  readonly sharedLabels?: Labels;
}

interface Samples {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly Sample[];
}

/** What prom-client's metrics are, though not all of it is in their types. */
interface SampleSource {
  get(): Promise<Samples>;
  /** Of histograms: copies no labels for each bucket. */
  getForPromString?(): Promise<Samples>;
}

/** Writes the metrics of a registry. */
export type WriteMetrics = (registry: Registry) => Promise<MetricFamily[]>;

/**
 * A scrape of thousands of series would spend most of its time on texts that don't change: what comes before a value is written
 * once, and the lines of a series only when one of its values has changed.
 *
 * @param own labels of every sample
 */
export function createMetricsWriter(own: Labels): WriteMetrics {
  const writers = new WeakMap<SampleSource, WriteSamples>();
  const ofProcess = labelText(own);

  function writerOf(source: SampleSource): WriteSamples {
    const known = writers.get(source);
    if (known !== undefined) return known;
    const writer = createSamplesWriter(ofProcess);
    writers.set(source, writer);
    return writer;
  }

  return async (registry) => {
    const metrics: readonly object[] = registry.getMetricsAsArray();
    const sources = metrics.filter(isSampleSource);
    const read = await Promise.all(sources.map((source) => source.getForPromString?.() ?? source.get()));
    return sources.flatMap((source, index) => {
      const samples = read[index];
      if (samples === undefined) return [];
      const { name, help, type } = samples;
      const head = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
      return [{ name, head, lines: writerOf(source)(samples) }];
    });
  };
}

type WriteSamples = (samples: Samples) => string;

/** The samples with the same labels: one of a counter or gauge, all of a histogram. */
interface Series {
  /** What is before each value. */
  readonly beginnings: string[];
  readonly values: number[];
  text: string;
}

const NO_LABELS: Labels = {};

/** Writes one metric, each time with its newest values. */
function createSamplesWriter(ofProcess: string): WriteSamples {
  // prom-client keeps one object of labels for each series.
  const known = new WeakMap<Labels, Series>();

  function beginningOf(name: string, { labels = NO_LABELS, sharedLabels = NO_LABELS, metricName }: Sample): string {
    const all = labelText(labels) + labelText(sharedLabels) + ofProcess;
    return `${metricName ?? name}${all === '' ? '' : `{${all.slice(0, -1)}}`} `;
  }

  function seriesOf(labels: Labels): Series {
    const series = known.get(labels) ?? { beginnings: [], values: [], text: '' };
    known.set(labels, series);
    return series;
  }

  return ({ name, values: samples }) => {
    const texts: string[] = [];
    for (let start = 0; start < samples.length; ) {
      const labels = labelsOf(samples[start]);
      const series = seriesOf(labels);
      const { beginnings, values } = series;
      let isChanged = false;
      let count = 0;
      for (let sample = samples[start]; sample !== undefined && labelsOf(sample) === labels; ) {
        beginnings[count] ??= beginningOf(name, sample);
        if (!Object.is(values[count], sample.value)) isChanged = true;
        values[count] = sample.value;
        count += 1;
        sample = samples[start + count];
      }
      if (isChanged)
        series.text = beginnings.map((begin, index) => `${begin}${valueText(values[index] ?? 0)}\n`).join('');
      texts.push(series.text);
      start += count;
    }
    return texts.join('');
  };
}

function labelsOf(sample: Sample | undefined): Labels {
  return sample?.sharedLabels ?? sample?.labels ?? NO_LABELS;
}

/** One text of several processes' metrics: each metric once, under one head. */
export function joinMetrics(processes: readonly (readonly MetricFamily[])[]): string {
  const byName = Map.groupBy(processes.flat(), ({ name }) => name);
  return [...byName.values()].map((same) => (same[0]?.head ?? '') + same.map(({ lines }) => lines).join('')).join('\n');
}

function isSampleSource(metric: object): metric is SampleSource {
  return 'get' in metric && typeof metric.get === 'function';
}

/** Each label with a comma behind. */
function labelText(labels: Labels): string {
  let text = '';
  for (const [name, value] of Object.entries(labels)) text += `${name}="${escapeLabel(String(value))}",`;
  return text;
}

function valueText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
