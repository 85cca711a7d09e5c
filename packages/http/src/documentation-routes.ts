import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ApiApp } from './api-context.ts';
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
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
});
`;

const PACKAGE_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/**
 * `/openapi.json` (OpenAPI 3.1, from the schemas that validate) and `/docs` (Swagger UI from its package, offline).
 * The document is made at the first request, when all routes are known.
 */
export function addDocumentationRoutes(app: ApiApp, version: string): void {
  let document: StaticAsset | undefined;
  app.get('/openapi.json', (c) => {
    document ??= staticAsset(JSON.stringify(createDocument(app, version)), 'application/json');
    return sendAsset(c, document);
  });
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
    app.get(`/docs/${file}`, async (c) => {
      asset ??= readFile(join(folder, file)).then((content) => staticAsset(content, type));
      return sendAsset(c, await asset);
    });
  }
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
