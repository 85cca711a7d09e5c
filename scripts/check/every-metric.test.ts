import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEveryMetric } from './every-metric.ts';
import { REPOSITORY_ROOT, readSourceFiles } from './source-files.ts';

const names = (await createEveryMetric().getMetricsAsJSON()).map(({ name }) => name);
const read = (path: string): string => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');

/** Metric names in a text of Prometheus expressions, a histogram's parts as the histogram. */
function namedIn(text: string): Set<string> {
  const words = text.match(/\bchainstead_[a-z_]+/g) ?? [];
  return new Set(words.map((word) => (names.includes(word) ? word : word.replace(/_(bucket|sum|count)$/, ''))));
}

describe('createEveryMetric', () => {
  it('holds every metric whose name stands in a source of the program', () => {
    const written = readSourceFiles()
      .filter(
        ({ path }) => /^(apps|packages)\//.test(path) && !path.endsWith('.test.ts') && !path.includes('/testkit/'),
      )
      .flatMap(({ text }) => [...text.matchAll(/\bname: '(chainstead_[a-z_]+)'/g)].map((match) => match[1] ?? ''));
    expect(written.length).toBeGreaterThan(5);
    expect(written.filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe('monitoring', () => {
  it('has alert rules, on metrics that exist', () => {
    const rules = read('docs/prometheus/alerts.yml');
    expect(rules.match(/^ +- alert: /gm)?.length).toBeGreaterThanOrEqual(5);
    expect([...namedIn(rules)].filter((name) => !names.includes(name))).toEqual([]);
  });

  it('has a dashboard on metrics that exist', () => {
    const dashboard = read('docs/grafana/chainstead.json');
    const panels: { panels: { targets: { expr: string }[] }[] } = JSON.parse(dashboard);
    const expressions = panels.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
    expect(namedIn(expressions).size).toBeGreaterThan(8);
    expect([...namedIn(expressions)].filter((name) => !names.includes(name))).toEqual([]);
  });
});
