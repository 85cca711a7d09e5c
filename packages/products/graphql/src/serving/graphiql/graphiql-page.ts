import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { getOrCompute } from '@chainstead/core';
import type { RouteModule } from '@chainstead/http';
import { type StaticAsset, sendAsset, staticAsset } from '@chainstead/http/server';

/** Content-Security-Policy of the page. */
export const GRAPHIQL_POLICY = [
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

interface GraphiqlPlace {
  /** Path of the files. */
  readonly files: string;
  /** Path that runs operations. @default that of the API */
  readonly endpoint?: string;
  /** Token of the console's session: then operations are sent as its forms. */
  readonly token?: string;
  /** Key of the chain in the first example. */
  readonly chain?: string | undefined;
  /** Link above. */
  readonly back?: { readonly href: string; readonly text: string };
}

/** @param place from the program, not from clients */
export function graphiqlHtml({ files, endpoint = '/graphql', token, chain, back }: GraphiqlPlace): string {
  const session = token === undefined ? '' : ` data-token="${token}"`;
  const example = chain === undefined ? '' : ` data-chain="${chain}"`;
  const link = back === undefined ? '' : `<header><a href="${back.href}">${back.text}</a></header>`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>GraphiQL · Chainstead</title>
    <link rel="icon" href="/docs/icon.svg">
    <link rel="stylesheet" href="${files}/graphiql.css">
    <link rel="stylesheet" href="${files}/start.css">
    <script defer src="${files}/graphiql.js"></script>
    <script defer src="${files}/start.js"></script>
  </head>
  <body data-endpoint="${endpoint}"${session}${example}>${link}<div id="graphiql"></div></body>
</html>
`;
}

export interface GraphiqlFile {
  readonly content: Buffer;
  readonly type: string;
}

/** @returns null for another name */
export async function readGraphiqlFile(name: string): Promise<GraphiqlFile | null> {
  const file = Object.keys(FILES).find((key) => key.replace('.gz', '') === name);
  if (file === undefined) return null;
  const content = await readFile(new URL(file, FOLDER));
  return { content: file.endsWith('.gz') ? gunzipSync(content) : content, type: FILES[file] ?? SCRIPT };
}

/**
 * Needs no key, so add it before routes with keys, and not where other machines reach it.
 * @param chain key of the chain in the first example
 */
export function graphiqlPage(chain: string | undefined): RouteModule {
  const page = staticAsset(graphiqlHtml({ files: '/graphql', chain }), 'text/html; charset=utf-8');
  const assets = new Map<string, Promise<StaticAsset>>();
  return (app) => {
    app.get('/graphql', async (c, next) => {
      if (!/\btext\/html\b/.test(c.req.header('accept') ?? '')) return next();
      c.header('content-security-policy', GRAPHIQL_POLICY);
      c.header('referrer-policy', 'no-referrer');
      return sendAsset(c, page);
    });
    for (const file of Object.keys(FILES)) {
      const name = file.replace('.gz', '');
      app.get(`/graphql/${name}`, async (c) =>
        sendAsset(c, await getOrCompute(assets, name, () => assetOf(name))),
      );
    }
  };
}

async function assetOf(name: string): Promise<StaticAsset> {
  const file = await readGraphiqlFile(name);
  if (file === null) throw new RangeError(`GraphiQL has no file ${name}`);
  return staticAsset(file.content, file.type);
}
