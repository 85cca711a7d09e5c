import type { Registry } from '@chainstead/core';

/** docs/reference/metrics.md: one heading per metric that a registry holds, grouped by the first word of its name. */
export async function renderMetricPage(registry: Registry): Promise<string> {
  const families = (await registry.getMetricsAsJSON()).toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  const groups = Map.groupBy(families, ({ name }) => areaOf(name));
  const sections = [...groups].map(
    ([area, ofArea]) =>
      `## ${area}\n\n${ofArea.map((family) => renderMetric(family, labelsOf(registry, family.name))).join('\n')}`,
  );
  return `# Metrics

This page lists every Prometheus metric of \`/metrics\`. [Monitor Chainstead](../operate/monitor.md) shows how to scrape them;
[alerts.yml](../prometheus/alerts.yml) and the dashboards in \`docs/grafana/dashboards\` use them. \`npm run generate\` writes this page.

Each metric also has the label \`role\`: \`api\`, \`ingest\`, \`worker\`, or \`start\` for the parent process. If a role has several processes, \`process\` is
\`api-1\`, \`api-2\` and so on. \`process_*\` and \`nodejs_*\` are the Node.js metrics of prom-client.

${sections.join('\n')}`;
}

/** `chainstead_rpc_…` belongs to `rpc`. */
function areaOf(name: string): string {
  return name.split('_')[1] ?? name;
}

function renderMetric(
  { name, type, help }: { name: string; type: unknown; help: string },
  labels: string,
): string {
  const kind = String(type);
  const described = help.endsWith('.') ? help : `${help}.`;
  return `### ${name}\n\n${kind.charAt(0).toUpperCase()}${kind.slice(1)}${labels === '' ? '' : ` by ${labels}`}. ${described}\n`;
}

function labelsOf(registry: Registry, name: string): string {
  const metric: unknown = registry.getSingleMetric(name);
  const names = typeof metric === 'object' && metric !== null && 'labelNames' in metric ? metric.labelNames : [];
  return Array.isArray(names) ? names.map((label) => `\`${String(label)}\``).join(', ') : '';
}
