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
 * Labels are written once and kept with their object: a scrape of thousands of series would spend most of its time on texts
 * that don't change.
 *
 * @param role becomes a label of every sample
 */
export function createMetricsWriter(role: string | undefined): WriteMetrics {
  const texts = new WeakMap<Labels, string>();
  const ofProcess = role === undefined ? '' : labelText({ role });

  function kept(labels: Labels | undefined): string {
    if (labels === undefined) return '';
    const known = texts.get(labels);
    if (known !== undefined) return known;
    const text = labelText(labels);
    texts.set(labels, text);
    return text;
  }

  function line(name: string, { value, labels, metricName, sharedLabels }: Sample): string {
    // The labels of a bucket are a new object each time.
    const own = sharedLabels === undefined || labels === undefined ? kept(labels) : labelText(labels);
    const all = own + kept(sharedLabels) + ofProcess;
    return `${metricName ?? name}${all === '' ? '' : `{${all.slice(0, -1)}}`} ${valueText(value)}\n`;
  }

  return async (registry) => {
    const metrics: readonly object[] = registry.getMetricsAsArray();
    const sources = metrics.filter(isSampleSource);
    const families = await Promise.all(sources.map((source) => source.getForPromString?.() ?? source.get()));
    return families.map(({ name, help, type, values }) => ({
      name,
      head: `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`,
      lines: values.map((sample) => line(name, sample)).join(''),
    }));
  };
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
