import type { Registry } from '@chainstead/core';

/** docs/metrics.md: every metric that a registry holds. */
export async function renderMetricDocument(registry: Registry): Promise<string> {
  const families = (await registry.getMetricsAsJSON()).toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  const rows = families.map(
    ({ name, type, help }) => `| \`${name}\` | ${type} | ${labelsOf(registry, name)} | ${help} |`,
  );
  return `# Metrics

\`/metrics\` speaks the Prometheus text format. The API's process answers for every process that \`chainstead start\` runs
beside it; a process of another role alone answers on \`METRICS_PORT\`. Each metric carries the label \`role\` (api, ingest,
worker) besides those listed, and where a role has several processes \`process\` (api-2). Metrics of the Node process itself (\`process_*\`, \`nodejs_*\`) are those of prom-client.
Rules that wake somebody are in [prometheus/alerts.yml](prometheus/alerts.yml), a dashboard in
[grafana/chainstead.json](grafana/chainstead.json). Generated from the program by \`npm run generate\`.

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
