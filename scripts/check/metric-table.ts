import type { Registry } from '@chainstead/core';

/** docs/metrics.md: every metric that a registry holds. */
export async function renderMetricDocument(registry: Registry): Promise<string> {
  const families = (await registry.getMetricsAsJSON()).toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  const rows = families.map(
    ({ name, type, help }) => `| \`${name}\` | ${type} | ${labelsOf(registry, name)} | ${help} |`,
  );
  return `# Metrics

\`/metrics\` speaks the Prometheus text format, on the API's port or, with \`METRICS_PORT\`, on that one alone. On a \`HOST\` that
other machines reach, the API's port serves it only with \`METRICS_KEY\`. It answers for every
process that the same \`chainstead start\` runs. Each metric carries the label \`role\` (api, ingest, worker, or start for the process that
runs the others) besides those listed, and \`process\` (api-1, api-2, …) where a role has several processes. Metrics of the Node process itself (\`process_*\`, \`nodejs_*\`) are those of prom-client.
Rules that wake somebody are in [prometheus/alerts.yml](prometheus/alerts.yml), with [what to do](operating.md#when-an-alert-fires); dashboards in
\`docs/grafana/dashboards\`. \`npm run generate\` writes this page.

| metric | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}
`;
}

function labelsOf(registry: Registry, name: string): string {
  const metric: unknown = registry.getSingleMetric(name);
  const names = typeof metric === 'object' && metric !== null && 'labelNames' in metric ? metric.labelNames : [];
  return Array.isArray(names) ? names.map((label) => `\`${String(label)}\``).join(', ') : '';
}
