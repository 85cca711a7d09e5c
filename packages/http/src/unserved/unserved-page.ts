import type { UnservedOperation } from './unserved-operation.ts';
import { UNSERVED_OPERATIONS } from './unserved-operations.ts';

/** The page `/docs/not-served`: operations of the hosted provider that are answered 501, by group. */
export function unservedPage(): string {
  const groups = Map.groupBy(UNSERVED_OPERATIONS, ({ group }) => group);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Not served yet · Chainstead API</title>
    <link rel="stylesheet" href="swagger-ui.css">
    <link rel="icon" type="image/png" sizes="32x32" href="favicon-32x32.png">
  </head>
  <body class="swagger-ui">
    <div class="wrapper">
      <h1>Not served yet</h1>
      <p>The hosted provider has these ${UNSERVED_OPERATIONS.length} operations, Chainstead does not serve them yet: each is answered 501 with its name.
      <a href="../docs">What is served</a></p>
${[...groups].map(([group, operations]) => section(group, operations)).join('\n')}
    </div>
  </body>
</html>
`;
}

function section(group: string, operations: readonly UnservedOperation[]): string {
  const rows = operations.map(
    ({ method, path, name }) => `        <tr><td>${method}</td><td><code>${path}</code></td><td>${name}</td></tr>`,
  );
  return `      <h2>${group}</h2>
      <table>
${rows.join('\n')}
      </table>`;
}
