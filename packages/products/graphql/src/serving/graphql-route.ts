import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import type { Chain } from '@chainstead/chains';
import { type Clock, getOrCompute, type Logger, whenAborted } from '@chainstead/core';
import { type ApiContext, InvalidParameterError, type RouteModule, readJsonBody } from '@chainstead/http';
import { type StaticAsset, sendAsset, staticAsset } from '@chainstead/http/server';
import { z } from 'zod';
import type { GraphqlRequest } from '../operations/operation.ts';
import { GraphqlRefusalError, shownRefusal } from '../refusal.ts';
import { createExecutor } from '../thread/executor.ts';
import { createResultBudget, createStreamResults } from './stream-results.ts';

export interface GraphqlOptions {
  /** Login of a member of `chainstead_reader` that has no other rights. */
  readonly databaseUrl: string;
  readonly chains: readonly Chain[];
  readonly logger: Logger;
  readonly clock: Clock;
  /** Per operation, in milliseconds. @default 10,000 */
  readonly timeoutMs?: number;
  /** Values of one operation. @default 16 MiB */
  readonly bytesMax?: number;
  /** Until a larger result without a reader is abandoned, in milliseconds. @default 10,000 */
  readonly unreadMs?: number;
  /** Heap of a thread that runs operations. @default 768 */
  readonly heapMb?: number;
}

export interface Graphql {
  readonly routes: RouteModule;
  /** Call it before the server closes. */
  endStreams(): void;
  close(): Promise<void>;
}

const PATH = '/graphql';
const BODY_BYTES_MAX = 65_536;
const BODY_VALUES_MAX = 10_000;
const TIMEOUT_MS = 10_000;
const BYTES_MAX = 16 * 1_024 * 1_024;
/** One key may use all but one. */
const CONCURRENCY = 3;

const RESULTS_BYTES_MAX = 4 * BYTES_MAX;
const INTROSPECTION = /__(?:schema|type)\b/;
const IDLE_MS = 60_000;

export function openGraphql(options: GraphqlOptions): Graphql {
  const { databaseUrl, chains, logger, clock, heapMb, timeoutMs = TIMEOUT_MS, bytesMax = BYTES_MAX } = options;
  const settings = { databaseUrl, chains, timeoutMs, bytesMax, logLevel: logger.level };
  const operations = createExecutor({ ...settings, concurrency: CONCURRENCY }, { logger, heapMb });
  const introspections = createExecutor({ ...settings, concurrency: 1 }, { logger, heapMb, idleMs: IDLE_MS });
  const closing = new AbortController();
  const budget = createResultBudget(Math.max(RESULTS_BYTES_MAX, 4 * bytesMax), clock, options.unreadMs);
  const streamResults = createStreamResults({ clock, logger, budget, closing: closing.signal });

  async function respond(c: ApiContext, request: GraphqlRequest): Promise<Response> {
    const executor = INTROSPECTION.test(request.query) ? introspections : operations;
    const acceptsEvents = c.req.header('accept')?.includes('text/event-stream') === true;
    const keyId = c.get('principal')?.id ?? '';
    const ended = c.get('ended');
    const exchange = executor.open({ ...request, acceptsEvents, keyId });
    const forget = whenAborted(ended, () => exchange.close());
    let isStream = false;
    try {
      const reply = await exchange.next();
      // After a timeout, the response would never be read, nor return its room.
      ended.throwIfAborted();
      if (reply.type === 'opened') {
        const response = streamResults(c, exchange);
        isStream = true;
        return response;
      }
      if (reply.type !== 'result') throw new TypeError(`A request has no reply ${reply.type}`);
      if (reply.status === 200) return await budget.respond(c, keyId, reply.body);
      return c.body(reply.body, reply.status, {
        'content-type': 'application/json',
        ...(reply.isRetryable && { 'retry-after': '1' }),
      });
    } finally {
      if (!isStream) {
        forget();
        exchange.close();
      }
    }
  }

  return {
    routes(app) {
      app.post(PATH, async (c) => {
        const request = await readRequest(c.req.raw);
        try {
          return await respond(c, request);
        } catch (error) {
          if (!(error instanceof GraphqlRefusalError)) throw error;
          return c.json({ errors: [shownRefusal(error)] }, 503, { 'retry-after': '1' });
        }
      });
    },
    endStreams: () => closing.abort(),
    async close() {
      closing.abort();
      await Promise.all([operations.close(), introspections.close()]);
    },
  };
}

const requestBody = z.object({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
});

async function readRequest(request: Request): Promise<GraphqlRequest> {
  const body = requestBody.safeParse(
    await readJsonBody(request, { bytesMax: BODY_BYTES_MAX, valuesMax: BODY_VALUES_MAX }),
  );
  if (!body.success)
    throw new InvalidParameterError({
      parameter: 'body',
      message: 'The body must be one object with the text `query`, and `variables` and `operationName` if needed',
    });
  return body.data;
}

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
const FOLDER = new URL('./graphiql/files/', import.meta.url);

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

interface GraphiqlFile {
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
