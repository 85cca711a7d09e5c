import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@chainstead/core';
import { UNSERVED_OPERATIONS } from '@chainstead/http';
import { createProgram } from '../../apps/chainstead/src/command-line.ts';
import { contractsFileSchema } from '../../apps/chainstead/src/contracts-file/contracts-file.ts';
import { FLOORS } from '../check/dependency-direction.ts';
import { renderEndpointDocument, renderUnservedOperations } from '../check/endpoint-table.ts';
import { collectErrors, renderErrorPage } from '../check/error-page.ts';
import { readEveryEndpoint } from '../check/every-endpoint.ts';
import { createEveryMetric } from '../check/every-metric.ts';
import { renderMetricPage } from '../check/metric-page.ts';
import { REPOSITORY_ROOT, readSourceFiles } from '../check/source-files.ts';
import { readAnalyticsViews } from '../schema/analytics-views.ts';
import { renderViews } from '../schema/dataset-documents.ts';
import { renderDatasetTables } from '../schema/dataset-tables-file.ts';
import { replaceGenerated } from '../schema/replace-generated.ts';
import { readDeclaredTables } from '../schema/schema-tables.ts';
import { renderCommandPage } from './command-page.ts';
import { renderEnvExample } from './env-example.ts';
import { renderInvariants } from './invariants-page.ts';
import { renderLlmsText } from './llms-text.ts';
import { renderSettingsPage } from './settings-page.ts';
import { renderSqlExamples } from './sql-examples.ts';

export interface GeneratedFile {
  /** From the repository root. */
  readonly path: string;
  readonly text: string;
}

/** Commands are described and not run. */
const UNUSED_CONTEXT = {
  environment: {},
  stdout: { write: () => true },
  stderr: { write: () => true },
  clock: systemClock,
  stopSignal: new AbortController().signal,
};

/** The files that are written by `npm run generate`, as the sources say they should be. */
export async function renderGeneratedFiles(): Promise<GeneratedFile[]> {
  return [
    {
      path: 'packages/doors/db/src/tables/dataset-tables.ts',
      text: renderDatasetTables(await readDeclaredTables()),
    },
    { path: '.env.example', text: renderEnvExample() },
    { path: 'docs/reference/settings.md', text: renderSettingsPage() },
    { path: 'docs/reference/cli.md', text: renderCommandPage(createProgram(UNUSED_CONTEXT)) },
    { path: 'docs/reference/errors.md', text: renderErrorPage(collectErrors(readSourceFiles())) },
    { path: 'docs/api/endpoints.md', text: renderEndpointDocument(readEveryEndpoint()) },
    withGenerated(
      'docs/migrate/differences.md',
      'unserved operations',
      renderUnservedOperations(UNSERVED_OPERATIONS),
    ),
    withGenerated('docs/internals/architecture.md', 'floors', renderFloors()),
    withGenerated('docs/api/sql.md', 'views of datasets', renderViews(readAnalyticsViews())),
    { path: 'docs/internals/invariants.md', text: renderInvariants(readSourceFiles()) },
    { path: 'packages/products/console/src/pages/sql/examples.json', text: renderSqlExamples() },
    { path: 'docs/public/llms.txt', text: renderLlmsText() },
    { path: 'docs/public/contracts.schema.json', text: `${JSON.stringify(contractsFileSchema(), null, 2)}\n` },
    { path: 'docs/reference/metrics.md', text: await renderMetricPage(createEveryMetric()) },
  ];
}

/** Table of the floors, from the top. */
function renderFloors(): string {
  const rows = Object.entries(FLOORS).map(
    ([floor, names]) => `| \`packages/${floor}\` | ${names.map((name) => `\`${name}\``).join(', ')} |\n`,
  );
  return `| Floor | Packages, from left to right |\n|---|---|\n${rows.toReversed().join('')}`;
}

/** A document of which one part is generated. */
function withGenerated(path: string, subject: string, text: string): GeneratedFile {
  return {
    path,
    text: replaceGenerated(readFileSync(join(REPOSITORY_ROOT, path), 'utf8'), 'markdown', subject, text),
  };
}
