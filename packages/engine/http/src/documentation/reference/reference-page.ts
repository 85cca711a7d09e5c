import { html } from 'hono/html';
import { type OpenApiDocument, openApiShape } from './openapi-shape.ts';
import {
  type ListedOperation,
  NOTHING,
  operationView,
  prose,
  type ReferenceHtml,
  slug,
} from './operation-view.ts';

export interface Reference {
  page(): Promise<string>;
  /** Loaded when an operation is opened. Null: no operation has this id. */
  operation(id: string): Promise<string | null>;
}

export function createReference(document: object, documentationUrl: string | null): Reference {
  const { info, tags = [], paths, components } = openApiShape.parse(document);
  const operations = operationsOf(paths);
  const schemas = components?.schemas ?? {};
  return {
    page: () => renderPage(groupsOf(operations, tags), info.version, documentationUrl),
    async operation(id) {
      const listed = operations.find((operation) => operation.id === id);
      return listed === undefined ? null : String(await operationView(listed, schemas));
    },
  };
}

function operationsOf(paths: OpenApiDocument['paths']): readonly ListedOperation[] {
  return Object.entries(paths).flatMap(([path, ofPath]) =>
    Object.entries(ofPath).map(([name, operation]) => {
      const method = name.toUpperCase();
      const id = operation.operationId ?? slug(`${method} ${path}`);
      return { id, group: operation.tags?.[0] ?? 'Other', method, path, operation };
    }),
  );
}

async function renderPage(
  groups: readonly Group[],
  version: string,
  documentationUrl: string | null,
): Promise<string> {
  const documentation =
    documentationUrl === null ? NOTHING : html`<li><a href="${documentationUrl}">Documentation</a></li>`;
  // Relative URLs also work behind a proxy that adds a path.
  return String(
    await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Chainstead API</title>
<link rel="stylesheet" href="docs/reference.css">
<link rel="icon" href="docs/icon.svg">
<script defer src="docs/reference.js"></script>
</head>
<body>
<a class="skip" href="#operations">Skip to operations</a>
<nav aria-label="Groups">
<a class="brand" href="docs">Chainstead API</a> <small>${version}</small>
<input type="search" id="filter" placeholder="Filter operations" aria-label="Filter operations">
<ul>${groups.map(({ id, name, operations }) => html`<li><a href="#${id}">${name}</a> <small>${operations.length}</small></li>`)}</ul>
<ul>${documentation}<li><a href="docs/not-served">Not served yet</a></li><li><a href="openapi.json">OpenAPI document</a></li></ul>
</nav>
<main id="operations">
<header>
<h1>Chainstead API</h1>
<p>Open an operation and press Send to try it on this server. Examples are filled in with stored data. Operations of the hosted API
that are <a href="docs/not-served">not served yet</a> return 501.</p>
<noscript><p>Without JavaScript, this page lists the operations only.</p></noscript>
<label>API key <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="Sent as X-API-Key"></label>
</header>
${groups.map(groupView)}
</main>
</body>
</html>
`,
  );
}

interface Group {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly operations: readonly ListedOperation[];
}

function groupsOf(
  operations: readonly ListedOperation[],
  tags: NonNullable<OpenApiDocument['tags']>,
): readonly Group[] {
  const listed = Map.groupBy(operations, ({ group }) => group);
  const names = new Set([...tags.map(({ name }) => name), ...listed.keys()]);
  return [...names].flatMap((name) => {
    const ofGroup = listed.get(name);
    if (ofGroup === undefined) return [];
    const description = tags.find((tag) => tag.name === name)?.description;
    return [{ id: `group-${slug(name)}`, name, description, operations: ofGroup }];
  });
}

function groupView({ id: groupId, name, description, operations }: Group): ReferenceHtml {
  const lines = operations.map(
    ({ id, method, path, operation }) =>
      html`<details class="operation" id="${id}"><summary><span class="method ${method.toLowerCase()}">${method}</span> <code class="path">${path}</code> <span>${operation.summary ?? ''}</span></summary></details>
`,
  );
  return html`<section id="${groupId}">
<h2>${name}</h2>
${description === undefined ? NOTHING : html`<p>${prose(description)}</p>`}
${lines}
</section>
`;
}
