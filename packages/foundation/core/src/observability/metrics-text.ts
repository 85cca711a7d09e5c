import type { Registry } from 'prom-client';

export interface MetricFamily {
  readonly name: string;
  readonly head: string;
  readonly lines: string;
}

type Labels = Readonly<Record<string, string | number>>;

interface Sample {
  readonly value: number;
  readonly labels?: Labels;
  readonly metricName?: string;
  readonly sharedLabels?: Labels;
}

interface Samples {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly Sample[];
}

interface SampleSource {
  get(): Promise<Samples>;
  getForPromString?(): Promise<Samples>;
}

export type WriteMetrics = (registry: Registry) => Promise<MetricFamily[]>;

/** Keeps unchanged text: it takes most time of a scrape. @param own labels of every sample */
export function createMetricsWriter(own: Labels): WriteMetrics {
  const writers = new WeakMap<SampleSource, WriteSamples>();
  const ofProcess = labelText(own);

  function writerOf(source: SampleSource): WriteSamples {
    const writer = writers.get(source) ?? createSamplesWriter(ofProcess);
    writers.set(source, writer);
    return writer;
  }

  return async (registry) => {
    const metrics: readonly object[] = registry.getMetricsAsArray();
    const sources = metrics.filter(
      (metric): metric is SampleSource => 'get' in metric && typeof metric.get === 'function',
    );
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

interface Series {
  readonly beginnings: string[];
  readonly values: number[];
  text: string;
}

const NO_LABELS: Labels = {};

function createSamplesWriter(ofProcess: string): WriteSamples {
  const known = new WeakMap<Labels, Series>();

  function beginningOf(
    name: string,
    { labels = NO_LABELS, sharedLabels = NO_LABELS, metricName }: Sample,
  ): string {
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

export function joinMetrics(processes: readonly (readonly MetricFamily[])[]): string {
  const byName = Map.groupBy(processes.flat(), ({ name }) => name);
  return [...byName.values()]
    .map((same) => (same[0]?.head ?? '') + same.map(({ lines }) => lines).join(''))
    .join('\n');
}

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
