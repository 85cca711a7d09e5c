import type { SeriesSelector } from './promql.ts';

/** A line of `/metrics`. */
export interface ExposedSeries {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a text in Prometheus' format says. */
export function readSeries(text: string): readonly ExposedSeries[] {
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, metric = '', labels = '', value]) => ({
    metric,
    labels: Object.fromEntries(
      [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', given = '']) => [label, given]),
    ),
    value: Number(value),
  }));
}

/** Whether a selector chooses the series. @param ignored labels whose conditions do not count */
export function isSelected(
  { metric, labels }: ExposedSeries,
  selector: SeriesSelector,
  ignored: ReadonlySet<string> = new Set(),
): boolean {
  if (metric !== selector.metric) return false;
  return selector.matchers.every(({ label, operator, value }) => {
    if (ignored.has(label)) return true;
    const given = labels[label] ?? '';
    const isMatch = operator.includes('~') ? new RegExp(`^(?:${value})$`).test(given) : given === value;
    return isMatch !== operator.startsWith('!');
  });
}
