import type { AnalyticsView } from './analytics-views.ts';

/** Rows of the table of views in docs/api/sql.md. */
export function renderViews(views: readonly AnalyticsView[]): string {
  const rows = views.map(({ name, description }) => `| \`${name}\` | ${description} |\n`);
  return rows.length === 0 ? '' : `| view of a dataset | rows |\n|---|---|\n${rows.join('')}`;
}
