import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifests } from '../../apps/chainstead/src/datasets/manifests.ts';
import { REPOSITORY_ROOT } from '../check/source-files.ts';
import { accountEventsView } from './account-events-view.ts';

/** A view for SQL clients: of a line of `manifests.ts`, or from the `analytics.sql` next to a `schema.ts`. */
export interface AnalyticsView {
  /** `analytics.vault_moves`. */
  readonly name: string;
  /** The comment that the file begins with. */
  readonly description: string;
  /** Tables of the schema `public` that it reads. */
  readonly tables: readonly string[];
  readonly text: string;
}

/** Those of `manifests.ts`, then the others in the order of their paths. @throws Error for a file without a comment or a view */
export function readAnalyticsViews(): readonly AnalyticsView[] {
  const files = globSync('{apps/*,packages/*/*}/src/**/analytics.sql', { cwd: REPOSITORY_ROOT })
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(REPOSITORY_ROOT, path), 'utf8').trim();
      const [, description = ''] = /^-- (.*)/.exec(text) ?? [];
      const [, name = ''] = /^CREATE VIEW (analytics\.\w+) /m.exec(text) ?? [];
      if (description === '' || name === '')
        throw new Error(`${path} has to begin with a comment line and to hold CREATE VIEW analytics.…`);
      return { name, description, tables: [...text.matchAll(/\bpublic\.(\w+)/g)].map(([, table = '']) => table), text };
    });
  return [...manifests.map(accountEventsView), ...files];
}
