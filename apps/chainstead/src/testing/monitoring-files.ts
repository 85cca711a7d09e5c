/** The dashboards and alert rules of the repository. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

const DOCS = fileURLToPath(new URL('../../../../docs/', import.meta.url));

const dashboardSchema = z.object({
  uid: z.string(),
  title: z.string(),
  panels: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      type: z.enum(['row', 'stat', 'timeseries']),
      description: z.string().optional(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      targets: z.array(z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string() })).default([]),
    }),
  ),
});

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string(),
          expr: z.string(),
          for: z.string(),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});

export type DashboardFile = z.infer<typeof dashboardSchema>;
export type AlertRule = z.infer<typeof rulesSchema>['groups'][number]['rules'][number];

export function readDashboards(): readonly DashboardFile[] {
  const folder = join(DOCS, 'grafana/dashboards');
  return readdirSync(folder).map((name) => dashboardSchema.parse(JSON.parse(readFileSync(join(folder, name), 'utf8'))));
}

export function readAlertRules(): readonly AlertRule[] {
  return rulesSchema
    .parse(parse(readFileSync(join(DOCS, 'prometheus/alerts.yml'), 'utf8')))
    .groups.flatMap(({ rules }) => rules);
}

/** Labels of each metric of the program by its name, as docs/metrics.md lists them: `npm run check` keeps that true. */
export function readDocumentedMetrics(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(join(DOCS, 'metrics.md'), 'utf8');
  const rows = text.matchAll(/^\| `(\w+)` \| (counter|gauge|histogram) \| ([^|]*) \|/gm);
  return new Map(
    [...rows].flatMap(([, name = '', type, labelText = '']): [string, readonly string[]][] => {
      const labels = [...labelText.matchAll(/`(\w+)`/g)].map(([, label = '']) => label);
      if (type !== 'histogram') return [[name, labels]];
      return [
        [`${name}_bucket`, [...labels, 'le']],
        [`${name}_sum`, labels],
        [`${name}_count`, labels],
      ];
    }),
  );
}
