import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { errorText, type Logger } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import type { ApiApp, ApiContext } from './api-context.ts';
import { withBodyBounds } from './body-bounds.ts';
import { type DocumentExamples, withExamples } from './document-examples.ts';
import type { RouteScopes } from './route-scopes.ts';
import { withScopeRefusals } from './scope-refusals.ts';
import { type StaticAsset, sendAsset, staticAsset } from './static-asset.ts';
import { unservedPage } from './unserved/unserved-page.ts';

/** Swagger UI without inline scripts; its style sheet carries images as data URLs. Nothing is loaded from elsewhere. */
const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

// Relative addresses, so that the page also works behind a proxy that adds a path.
const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Chainstead API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" type="image/png" sizes="32x32" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

const START_SCRIPT = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  tryItOutEnabled: true,
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
});
`;

const ICON = 'favicon-32x32.png';
const PACKAGE_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  [ICON]: 'image/png',
};

export interface DocumentationOptions {
  /** Of the program. */
  readonly version: string;
  readonly logger: Logger;
  /** For the refusals of keys. Complete when the document is asked for. */
  readonly routeScopes: RouteScopes;
  /** Values that have an answer here. Asked for once in a while. */
  readonly examples: () => Promise<DocumentExamples>;
}

/** How long examples are kept: long enough that nobody makes the database work by asking. Milliseconds. */
const EXAMPLES_KEPT_MS = 60_000;

/**
 * `/openapi.json` (OpenAPI 3.1, from the schemas that validate), `/docs` (Swagger UI from its package, offline), and `/`, which
 * leads there. The document is made at the first request, when all routes are known.
 */
export function addDocumentationRoutes(app: ApiApp, options: DocumentationOptions): void {
  const { version } = options;
  const currentDocument = documentWithExamples(app, options);
  app.get('/openapi.json', async (c) => sendAsset(c, await currentDocument()));
  app.get('/', (c) => {
    if (!/\btext\/html\b/.test(c.req.header('accept') ?? ''))
      return c.json({ name: 'Chainstead', version, documentation: '/docs', openapi: '/openapi.json' });
    c.header('content-security-policy', DOCS_POLICY);
    return c.html(homePage(version));
  });
  app.get('/docs/', (c) => c.redirect('../docs', 308));
  const page = staticAsset(DOCS_PAGE, 'text/html; charset=utf-8');
  app.get('/docs', (c) => {
    c.header('content-security-policy', DOCS_POLICY);
    c.header('referrer-policy', 'no-referrer');
    return sendAsset(c, page);
  });
  const notServed = staticAsset(unservedPage(), 'text/html; charset=utf-8');
  app.get('/docs/not-served', (c) => {
    c.header('content-security-policy', DOCS_POLICY);
    return sendAsset(c, notServed);
  });
  const start = staticAsset(START_SCRIPT, 'text/javascript; charset=utf-8');
  app.get('/docs/start.js', (c) => sendAsset(c, start));
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
  for (const [file, type] of Object.entries(PACKAGE_FILES)) {
    let asset: Promise<StaticAsset> | undefined;
    const send = async (c: ApiContext): Promise<Response> => {
      asset ??= readFile(join(folder, file)).then((content) => staticAsset(content, type));
      return sendAsset(c, await asset);
    };
    app.get(`/docs/${file}`, send);
    if (file === ICON) app.get('/favicon.ico', send);
  }
}

/** The document with examples that are a minute old at most; with the last known ones while the database is away. */
function documentWithExamples(app: ApiApp, { version, logger, routeScopes, examples }: DocumentationOptions) {
  let known: { readonly text: string; readonly asset: StaticAsset } | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<DocumentExamples> | undefined;
  return async (): Promise<StaticAsset> => {
    if (known !== undefined && performance.now() < freshUntil) return known.asset;
    reading ??= examples().finally(() => {
      reading = undefined;
    });
    const values = await reading.catch((error: unknown) => {
      logger[failureLevel(error)]({ error: errorText(error) }, 'Examples for the documentation could not be read');
      return null;
    });
    if (values !== null) freshUntil = performance.now() + EXAMPLES_KEPT_MS;
    else if (known !== undefined) return known.asset;
    const document = withScopeRefusals(app, routeScopes, withBodyBounds(createDocument(app, version)));
    const text = JSON.stringify(withExamples(app, document, values ?? {}));
    if (known?.text !== text) known = { text, asset: staticAsset(text, 'application/json') };
    return known.asset;
  };
}

function homePage(version: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Chainstead</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" type="image/png" sizes="32x32" href="docs/favicon-32x32.png">
  </head>
  <body class="swagger-ui">
    <div class="wrapper">
      <h1>Chainstead ${version}</h1>
      <p>A self-hosted indexer of EVM chains and Aptos. <a href="docs">The API, to try out</a> ·
      <a href="openapi.json">OpenAPI document</a> · <a href="docs/not-served">Not served yet</a> · <a href="health">Health</a></p>
    </div>
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
        'Self-hosted indexer: EVM chains in your own Postgres, served through the API that your code already uses. Operations of the hosted provider that are [not served yet](docs/not-served) answer 501.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ ApiKey: [] }, { Bearer: [] }],
  });
}
