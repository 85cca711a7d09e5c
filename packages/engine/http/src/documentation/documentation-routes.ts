import { readFile } from 'node:fs/promises';
import { errorText, type Logger } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import { z } from '@hono/zod-openapi';
import type { ApiApp, ApiContext } from '../api-context.ts';
import type { RouteScopes } from '../api-dependencies.ts';
import { NotFoundError, ScopeMissingError } from '../errors/api-error.ts';
import { KEY_SCOPES, type KeyScope } from '../keys/key-store.ts';
import { mapOperations } from '../map-values.ts';
import { withBodyBounds } from '../requests/body-bounds.ts';
import { UNSERVED_OPERATIONS, type UnservedOperation } from '../unserved/unserved-operations.ts';
import { withDescriptions } from './descriptions/describe-document.ts';
import { type DocumentExamples, withExamples } from './document-examples.ts';
import { OPERATION_GROUPS } from './operation-groups.ts';
import { createReference } from './reference/reference-page.ts';
import { type StaticAsset, sendAsset, staticAsset } from './static-asset.ts';

const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HTML = 'text/html; charset=utf-8';
const ICON = 'icon.svg';
const FILES: Readonly<Record<string, string>> = {
  'reference.css': 'text/css; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
  [ICON]: 'image/svg+xml',
};
const FOLDER = new URL('./reference/files/', import.meta.url);

interface DocumentationOptions {
  readonly version: string;
  readonly documentationUrl: string | null;
  readonly logger: Logger;
  /** For the 403 responses. Must be complete at the first request for the document. */
  readonly routeScopes: RouteScopes;
  readonly examples: () => Promise<DocumentExamples>;
  readonly additions: DocumentAdditions;
}

const EXAMPLES_KEPT_MS = 60_000;

/** Built at the first request, when all routes are known. */
export function addDocumentationRoutes(app: ApiApp, options: DocumentationOptions): void {
  const { version } = options;
  const current = documentWithExamples(app, options);
  app.get('/openapi.json', async (c) => sendAsset(c, (await current()).asset));
  app.get('/', (c) => {
    if (!/\btext\/html\b/.test(c.req.header('accept') ?? ''))
      return c.json({ name: 'Chainstead', version, documentation: '/docs', openapi: '/openapi.json' });
    c.header('content-security-policy', DOCS_POLICY);
    return c.html(homePage(version));
  });
  app.get('/docs/', (c) => c.redirect('../docs', 308));
  const sendPage = (c: ApiContext, page: StaticAsset): Response => {
    c.header('content-security-policy', DOCS_POLICY);
    return sendAsset(c, page);
  };
  app.get('/docs', async (c) => {
    const page = await (await current()).page();
    c.header('referrer-policy', 'no-referrer');
    return sendPage(c, page);
  });
  app.get('/docs/operations/:id', async (c) => {
    const operation = await (await current()).operation(c.req.param('id'));
    if (operation !== null) return sendPage(c, operation);
    c.header('content-security-policy', DOCS_POLICY);
    throw new NotFoundError('There is no operation with this id. Reload the page');
  });
  const notServed = staticAsset(unservedPage(), HTML);
  app.get('/docs/not-served', (c) => sendPage(c, notServed));
  for (const [file, type] of Object.entries(FILES)) {
    let asset: Promise<StaticAsset> | undefined;
    const send = async (c: ApiContext): Promise<Response> => {
      asset ??= readFile(new URL(file, FOLDER)).then((content) => staticAsset(content, type));
      return sendAsset(c, await asset);
    };
    app.get(`/docs/${file}`, send);
    if (file === ICON) app.get('/favicon.ico', send);
  }
}

interface CurrentDocument {
  readonly text: string;
  readonly asset: StaticAsset;
  page(): Promise<StaticAsset>;
  operation(id: string): Promise<StaticAsset | null>;
}

function currentDocumentOf(document: object, text: string, documentationUrl: string | null): CurrentDocument {
  const reference = createReference(document, documentationUrl);
  let page: Promise<StaticAsset> | undefined;
  return {
    text,
    asset: staticAsset(text, 'application/json'),
    page() {
      page ??= reference.page().then((content) => staticAsset(content, HTML));
      return page;
    },
    async operation(id) {
      const content = await reference.operation(id);
      return content === null ? null : staticAsset(content, HTML);
    },
  };
}

function documentWithExamples(
  app: ApiApp,
  { version, documentationUrl, logger, routeScopes, examples, additions }: DocumentationOptions,
) {
  let routes: object | undefined;
  let built: CurrentDocument | undefined;
  let builtState: string | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  const builds = new Map<string, Promise<CurrentDocument>>();
  const readState = createStateReader(additions, logger);

  async function build(state: string): Promise<CurrentDocument> {
    const stored = await Promise.all([examples(), additions.read()]).catch((error: unknown) => {
      logger[failureLevel(error)](
        { error: errorText(error) },
        'Examples for the documentation could not be read',
      );
      return null;
    });
    if (stored === null && built !== undefined) return built;
    const [values, add] = stored ?? NOTHING_STORED;
    routes ??= withBodyBounds(createDocument(app, version));
    await otherRequests();
    const described = withDescriptions(withScopeRefusals(app, routeScopes, routes));
    await otherRequests();
    const document = add(withExamples(app, described, values));
    const text = JSON.stringify(document);
    await otherRequests();
    if (built?.text !== text) built = currentDocumentOf(document, text, documentationUrl);
    if (stored !== null) {
      freshUntil = performance.now() + EXAMPLES_KEPT_MS;
      builtState = state;
    }
    return built;
  }

  return async (): Promise<CurrentDocument> => {
    const state = await readState();
    if (built !== undefined && performance.now() < freshUntil && state === builtState) return built;
    const running = builds.get(state) ?? build(state).finally(() => builds.delete(state));
    builds.set(state, running);
    return running;
  };
}

const otherRequests = () => new Promise<void>((resolve) => setImmediate(resolve));
const NOTHING_STORED = [{}, (document: object) => document] as const;

function homePage(version: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Chainstead</title>
    <meta name="color-scheme" content="light dark">
    <link rel="stylesheet" href="docs/reference.css">
    <link rel="icon" href="docs/icon.svg">
  </head>
  <body class="plain">
    <main>
      <h1>Chainstead ${version}</h1>
      <p>A self-hosted indexer of EVM chains and Aptos. <a href="docs">API reference</a> ·
      <a href="openapi.json">OpenAPI document</a> · <a href="docs/not-served">Not served yet</a> · <a href="health">Health</a></p>
    </main>
  </body>
</html>
`;
}

function createDocument(app: ApiApp, version: string): object {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Chainstead',
      version,
      description:
        'Self-hosted indexer for EVM chains with your own Postgres and a Moralis-compatible API. Operations of the hosted API that are [not served yet](docs/not-served) return 501.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    tags: OPERATION_GROUPS.map((group) => ({ ...group })),
    servers: [{ url: '/' }],
    security: [{ ApiKey: [] }, { Bearer: [] }],
  });
}

function withScopeRefusals(app: ApiApp, routeScopes: RouteScopes, document: object): object {
  const scopes = scopesByOperation(app, routeScopes);
  const { paths, ...rest } = documentShape.parse(document);
  const described = mapOperations(paths, (operation, id) => {
    const { responses } = operation;
    if (!(UNAUTHORIZED in responses) || FORBIDDEN in responses) return operation;
    return { ...operation, responses: { ...responses, [FORBIDDEN]: refusalOf(scopes.get(id) ?? 'admin') } };
  });
  return { ...rest, paths: described };
}

const UNAUTHORIZED = '401';
const FORBIDDEN = '403';
const EXAMPLE_KEY_ID = '1f0c2ab9';
const operationShape = z.looseObject({ responses: z.record(z.string(), z.unknown()) });
const documentShape = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operationShape)) });

function scopesByOperation(app: ApiApp, routeScopes: RouteScopes): ReadonlyMap<string, KeyScope> {
  return new Map(
    app.routes.flatMap((route) => {
      const scope = routeScopes.get(route);
      return scope === undefined ? [] : [[`${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`, scope]];
    }),
  );
}

function refusalOf(scope: KeyScope): object {
  const scopes = new Set(KEY_SCOPES.filter((other) => other !== scope).slice(0, 1));
  const { message, details } = new ScopeMissingError(scope, { id: EXAMPLE_KEY_ID, name: '', scopes });
  const json = { schema: { $ref: '#/components/schemas/Error' }, example: { message, details } };
  return { description: `The API key lacks the scope ${scope}`, content: { 'application/json': json } };
}

function unservedPage(): string {
  const groups = Map.groupBy(UNSERVED_OPERATIONS, ({ group }) => group);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Not served yet · Chainstead API</title>
    <meta name="color-scheme" content="light dark">
    <link rel="stylesheet" href="reference.css">
    <link rel="icon" href="icon.svg">
  </head>
  <body class="plain">
    <main>
      <h1>Not served yet</h1>
      <p>Chainstead does not serve these ${UNSERVED_OPERATIONS.length} operations of the hosted API yet. Each returns 501 with its name.
      <a href="../docs">Served operations</a></p>
${[...groups].map(([group, operations]) => section(group, operations)).join('\n')}
    </main>
  </body>
</html>
`;
}

function section(group: string, operations: readonly UnservedOperation[]): string {
  const rows = operations.map(
    ({ method, path, name }) =>
      `        <tr><td>${method}</td><td><code>${path}</code></td><td>${name}</td></tr>`,
  );
  return `      <h2>${group}</h2>
      <table>
${rows.join('\n')}
      </table>`;
}

export interface DocumentAdditions {
  /** A text that changes with the operations. Called at most once per second. */
  readState(): Promise<string>;
  /** Called after a change, and about once per minute. */
  read(): Promise<(document: object) => object>;
}

export const NO_ADDITIONS: DocumentAdditions = {
  readState: async () => '',
  read: async () => (document) => document,
};

const STATE_KEPT_MS = 1_000;

/** Up to a second old, or the last known state while Postgres is unavailable. */
function createStateReader({ readState }: DocumentAdditions, logger: Logger): () => Promise<string> {
  let known = '';
  let freshUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<string> | undefined;
  return async () => {
    if (performance.now() < freshUntil) return known;
    reading ??= readState().finally(() => {
      reading = undefined;
      freshUntil = performance.now() + STATE_KEPT_MS;
    });
    try {
      known = await reading;
    } catch (error) {
      logger[failureLevel(error)](
        { error: errorText(error) },
        'Operations for the documentation could not be read',
      );
    }
    return known;
  };
}
