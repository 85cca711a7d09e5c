import { OPERATION_GROUPS, type UNSERVED_OPERATIONS } from '@chainstead/http';

/** An endpoint as the OpenAPI document describes it. */
export interface ListedEndpoint {
  /** In capitals. */
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  /** Operation id; null if there is none. */
  readonly operation: string | null;
  readonly summary: string;
  /** First tag. */
  readonly group: string;
}

/** docs/api/endpoints.md: one row per endpoint, grouped as in `/docs`. */
export function renderEndpointDocument(endpoints: readonly ListedEndpoint[]): string {
  const groups = Map.groupBy(endpoints, ({ group }) => group);
  return `# Endpoints

This page lists every endpoint, one row each, grouped as in the server's own \`/docs\`. \`/docs\` also shows parameters and responses, and
sends requests. Keys, pages and limits: [API](index.md). Operations that return 501: [differences](../migrate/differences.md#unserved-operations).
\`npm run generate\` writes this page.

${OPERATION_GROUPS.map((group) => renderGroup(group, groups.get(group.name) ?? [])).join('\n')}`;
}

function renderGroup(
  { name, description }: (typeof OPERATION_GROUPS)[number],
  endpoints: readonly ListedEndpoint[],
): string {
  const rows = endpoints.map(
    ({ method, path, operation, summary }) =>
      `| \`${method} ${path}\` | ${summary} | ${operation === null ? '' : `\`${operation}\``} |\n`,
  );
  return `## ${name}\n\n${description}\n\n| Endpoint | Purpose | Operation |\n|---|---|---|\n${rows.join('')}`;
}

/** Rows of the table of operations that return 501, in docs/migrate/differences.md. */
export function renderUnservedOperations(operations: typeof UNSERVED_OPERATIONS): string {
  const rows = operations.map(
    ({ group, name, method, path }) => `| ${group} | ${name} | \`${method} ${path}\` |\n`,
  );
  return `| Group | Operation | Endpoint |\n|---|---|---|\n${rows.join('')}`;
}
