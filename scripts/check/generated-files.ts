import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderEnvExample } from '../../apps/chainstead/src/configuration/env-example.ts';
import { renderDashboard } from '../dashboards/dashboard.ts';
import { everyDashboard } from '../dashboards/every-dashboard.ts';
import { renderScalingDocument } from '../scaling/scaling-document.ts';
import { collectErrors, renderErrorDocument } from './error-table.ts';
import { createEveryMetric } from './every-metric.ts';
import { renderMetricDocument } from './metric-table.ts';
import { REPOSITORY_ROOT, readSourceFiles } from './source-files.ts';

/** Written by hand but for its computed tables. */
const SCALING = 'docs/scaling.md';

export interface GeneratedFile {
  /** From the repository root. */
  readonly path: string;
  readonly text: string;
}

/** The files that are written by `npm run generate`, as the sources say they should be. */
export async function renderGeneratedFiles(): Promise<GeneratedFile[]> {
  return [
    { path: '.env.example', text: renderEnvExample() },
    { path: 'docs/errors.md', text: renderErrorDocument(collectErrors(readSourceFiles())) },
    { path: SCALING, text: renderScalingDocument(readFileSync(join(REPOSITORY_ROOT, SCALING), 'utf8')) },
    { path: 'docs/metrics.md', text: await renderMetricDocument(createEveryMetric()) },
    ...everyDashboard.map((dashboard) => ({
      path: `docs/grafana/dashboards/${dashboard.uid}.json`,
      text: renderDashboard(dashboard),
    })),
  ];
}
