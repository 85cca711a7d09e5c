import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import type { RouteModule } from '@chainstead/http';
import { type StaticAsset, sendAsset, staticAsset } from '@chainstead/http/server';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const FILES: Readonly<Record<string, string>> = {
  'graphiql.js.gz': SCRIPT,
  'graphiql.css.gz': STYLE,
  'start.js': SCRIPT,
  'start.css': STYLE,
};
const FOLDER = new URL('./files/', import.meta.url);

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>GraphiQL · Chainstead</title>
    <link rel="icon" href="/docs/icon.svg">
    <link rel="stylesheet" href="/graphql/graphiql.css">
    <link rel="stylesheet" href="/graphql/start.css">
    <script defer src="/graphql/graphiql.js"></script>
    <script defer src="/graphql/start.js"></script>
  </head>
  <body><div id="graphiql"></div></body>
</html>
`;

/** Needs no key, so add it before routes with keys, and not where other machines reach it. */
export const graphiqlPage: RouteModule = (app) => {
  const page = staticAsset(PAGE, 'text/html; charset=utf-8');
  app.get('/graphql', async (c, next) => {
    if (!/\btext\/html\b/.test(c.req.header('accept') ?? '')) return next();
    c.header('content-security-policy', POLICY);
    c.header('referrer-policy', 'no-referrer');
    return sendAsset(c, page);
  });
  for (const [file, type] of Object.entries(FILES)) {
    let asset: Promise<StaticAsset> | undefined;
    app.get(`/graphql/${file.replace('.gz', '')}`, async (c) => {
      asset ??= readFile(new URL(file, FOLDER)).then((content) =>
        staticAsset(file.endsWith('.gz') ? gunzipSync(content) : content, type),
      );
      return sendAsset(c, await asset);
    });
  }
};
