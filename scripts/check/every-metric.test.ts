import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureProcess } from '@chainstead/core';
import { describe, expect, it } from 'vitest';
import { createEveryMetric } from './every-metric.ts';
import { listFiles, REPOSITORY_ROOT, readSourceFiles } from './source-files.ts';

const ALERTS = 'docs/prometheus/alerts.yml';

const registry = createEveryMetric();
measureProcess(registry);
const metrics = await registry.getMetricsAsJSON();

describe('createEveryMetric', () => {
  it('has the table of metrics of each feature, and no feature makes a metric without its table', () => {
    const sources = readSourceFiles().filter(
      ({ path }) => /^(apps|packages)\//.test(path) && !path.endsWith('.test.ts') && !path.includes('/testing/'),
    );
    const matches = (pattern: RegExp) => sources.flatMap(({ text }) => [...text.matchAll(pattern)]);
    const tables = matches(/^export const (\w+) = defineMetrics\('chainstead/gm).map(([, table]) => table);
    const listed = [...readText('scripts/check/every-metric.ts').matchAll(/^ {2}(create\w+Metrics),$/gm)];
    expect(tables.length).toBeGreaterThan(20);
    expect(new Set(listed.map(([, table]) => table))).toEqual(new Set(tables));
    expect(matches(/\bdefineMetrics\(/g).length).toBe(tables.length);
    expect(matches(/\bname: 'chainstead_\w+'/g)).toEqual([]);
  });
});

describe('dashboards and alert rules', () => {
  it.each([...listFiles('docs/grafana/dashboards/*.json'), ALERTS])('%s queries metrics that exist', (path) => {
    const series = new Set(
      metrics.flatMap(({ name, type }) =>
        String(type) === 'histogram' ? ['bucket', 'sum', 'count'].map((suffix) => `${name}_${suffix}`) : [name],
      ),
    );
    const queries = readText(path).match(/^\s*"?expr"?: .*$/gm) ?? [];
    const used = queries.join('\n').match(/\b(?:chainstead|process|nodejs)_\w+/g) ?? [];
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter((name) => !series.has(name))).toEqual([]);
  });

  it('has one section of the runbook for each alert', () => {
    const alerts = [...readText(ALERTS).matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name);
    const links = [...readText(ALERTS).matchAll(/^ +runbook: docs\/operate\/runbook\.md#(\w+)$/gm)].map(
      ([, link]) => link,
    );
    const headings = [...readText('docs/operate/runbook.md').matchAll(/^### (Chainstead\w+)$/gm)].map(
      ([, name]) => name,
    );
    expect(alerts.length).toBeGreaterThan(5);
    expect(headings.toSorted()).toEqual(alerts.toSorted());
    expect(links).toEqual(alerts.map((name) => name?.toLowerCase()));
  });
});

function readText(path: string): string {
  return readFileSync(join(REPOSITORY_ROOT, path), 'utf8');
}
