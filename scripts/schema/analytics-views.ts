import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from '../check/source-files.ts';

/** A view for SQL clients, from the `analytics.sql` next to a `schema.ts`. */
export interface AnalyticsView {
  /** `analytics.vault_moves`. */
  readonly name: string;
  /** The comment that the file begins with. */
  readonly description: string;
  /** Tables of the schema `public` that it reads. */
  readonly tables: readonly string[];
  readonly text: string;
}

/** In the order of their paths. @throws Error for a file without a comment or a view */
export function readAnalyticsViews(): readonly AnalyticsView[] {
  return globSync('{apps/*,packages/*/*}/src/**/analytics.sql', { cwd: REPOSITORY_ROOT })
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(REPOSITORY_ROOT, path), 'utf8').trim();
      const [, description = ''] = /^-- (.*)/.exec(text) ?? [];
      const [, name = ''] = /^CREATE VIEW (analytics\.\w+) /m.exec(text) ?? [];
      if (description === '' || name === '')
        throw new Error(`${path} has to begin with a comment line and to hold CREATE VIEW analytics.…`);
      return { name, description, tables: [...text.matchAll(/\bpublic\.(\w+)/g)].map(([, table = '']) => table), text };
    });
}
