/** Dashboards and alert rules: what they ask for exists, and whoever is woken finds what to do. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createMetricsRegistry, measureProcess } from '@chainstead/core';
import { describe, expect, it } from 'vitest';
import { readAlertRules, readDashboards, readDocumentedMetrics } from './testing/monitoring-files.ts';
import { readSelectors, type SeriesSelector } from './testing/promql.ts';

/** Of every metric: from the program, and from Prometheus. */
const LABELS_OF_ALL = ['role', 'process', 'instance', 'job'];

const known = new Map<string, readonly string[]>([...readDocumentedMetrics(), ['up', []], ...(await processMetrics())]);
const dashboards = readDashboards();
const panels = dashboards.flatMap((dashboard) =>
  dashboard.panels.map((panel) => ({ dashboard: dashboard.title, ...panel })),
);
const rules = readAlertRules();

/** What prom-client measures of a Node process. */
async function processMetrics(): Promise<[string, readonly string[]][]> {
  const registry = createMetricsRegistry();
  measureProcess(registry);
  const text = await registry.metrics();
  const series = [...text.matchAll(/^(\w+)(?:\{([^}]*)\})? /gm)].map(
    ([, name = '', labels = '']): [string, readonly string[]] => [
      name,
      [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    ],
  );
  // Those of a garbage collection may not have happened yet.
  return [...series, ['nodejs_gc_duration_seconds_sum', ['kind']]];
}

/** What of a selector does not exist. */
function unknownIn({ metric, matchers, groupedBy }: SeriesSelector): string[] {
  const labels = known.get(metric);
  if (labels === undefined) return [metric];
  const used = [...matchers.map(({ label }) => label), ...groupedBy];
  return used.filter((label) => ![...labels, ...LABELS_OF_ALL].includes(label)).map((label) => `${metric}{${label}}`);
}

describe('readSelectors', () => {
  it('finds metrics, conditions and groupings, however deep they stand', () => {
    expect(
      readSelectors(
        'max by (chain) (rate(a_total{kind=~"x|y",status!="1"}[5m])) / on (role) sum without (q) (b) or vector(0)',
      ),
    ).toEqual([
      {
        metric: 'a_total',
        matchers: [
          { label: 'kind', operator: '=~', value: 'x|y' },
          { label: 'status', operator: '!=', value: '1' },
        ],
        groupedBy: ['chain', 'role'],
      },
      { metric: 'b', matchers: [], groupedBy: ['role'] },
    ]);
    expect(readSelectors('max by (x) (a and on (y) (b == 1))').map(({ groupedBy }) => groupedBy)).toEqual([
      ['y', 'x'],
      ['y'],
    ]);
  });

  it.each(['sum(rate(a[5m])', 'sum by (a) rate(b[5m])', 'a{b=c}', 'a >', 'rate(a[5 minutes])', 'nonsense(a)', ''])(
    'refuses %j',
    (expression) => {
      expect(() => readSelectors(expression)).toThrow(SyntaxError);
    },
  );
});

describe('dashboards', () => {
  it.each(panels.filter(({ type }) => type !== 'row'))(
    '$dashboard: $title asks for what exists',
    ({ targets, description }) => {
      expect(targets.length).toBeGreaterThan(0);
      expect(description).not.toBe('');
      for (const { expr, legendFormat } of targets) {
        const selectors = readSelectors(expr);
        expect(selectors.flatMap(unknownIn), expr).toEqual([]);
        const grouped = selectors.flatMap(({ groupedBy }) => groupedBy);
        const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
        expect(
          named.filter((label) => !grouped.includes(label)),
          `${expr}: ${legendFormat}`,
        ).toEqual([]);
      }
    },
  );

  it('have ids and titles of their own, and panels that do not cover each other', () => {
    expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length);
    for (const { title, panels: placed } of dashboards) {
      expect(new Set(placed.map(({ id }) => id)).size, title).toBe(placed.length);
      const cells = placed.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
      );
      expect(new Set(cells).size, title).toBe(cells.length);
      expect(Math.max(...placed.map(({ gridPos: { x, w } }) => x + w)), title).toBeLessThanOrEqual(24);
    }
  });
});

describe('alert rules', () => {
  const runbook = readFileSync(fileURLToPath(new URL('../../../docs/operating.md', import.meta.url)), 'utf8');
  const headings = [...runbook.matchAll(/^### (Chainstead\w+)$/gm)].map(([, name = '']) => name);

  it.each(rules)('$alert asks for what exists, and says what to do', ({ alert, expr, for: duration, annotations }) => {
    expect(readSelectors(expr).flatMap(unknownIn)).toEqual([]);
    expect(duration).toMatch(/^\d+[mh]$/);
    expect(annotations.runbook).toBe(`docs/operating.md#${alert.toLowerCase()}`);
    expect(headings).toContain(alert);
    // Labels that it names are left by what the expression groups by; `absent` has none.
    const grouped = readSelectors(expr).flatMap(({ groupedBy }) => groupedBy);
    const named = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
    expect(named.filter((label) => ![...grouped, ...LABELS_OF_ALL].includes(label))).toEqual([]);
  });

  it('have names of their own, each with one paragraph of the runbook', () => {
    expect(headings.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
    expect(new Set(headings).size).toBe(headings.length);
  });
});
