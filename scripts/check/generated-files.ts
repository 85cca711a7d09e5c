import { renderEnvExample } from '../../apps/chainstead/src/configuration/env-example.ts';
import { collectErrors, renderErrorDocument } from './error-table.ts';
import { createEveryMetric } from './every-metric.ts';
import { renderMetricDocument } from './metric-table.ts';
import { readSourceFiles } from './source-files.ts';

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
    { path: 'docs/metrics.md', text: await renderMetricDocument(createEveryMetric()) },
  ];
}
