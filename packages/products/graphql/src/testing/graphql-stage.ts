import { randomBytes } from 'node:crypto';
import { createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { type KeyScope, withScope } from '@chainstead/http';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import type { ScratchDatabase } from '@chainstead/testkit';
import { type Graphql, type GraphqlOptions, graphiqlPage, openGraphql } from '../serving/graphql-route.ts';

export const RPC_KEY = 'key-without-data';
/** Further keys with all scopes: one may have 20 subscriptions. */
export const OTHER_KEYS = ['other-key-1', 'other-key-2', 'other-key-3', 'other-key-4', 'other-key-5'];

/** A server with the route, over a login with the rights of readers. */
export interface GraphqlStage {
  readonly url: string;
  /** Sends an operation and returns the status and the parsed body. */
  request(
    query: string,
    variables?: object,
    operationName?: string,
  ): Promise<{ status: number; body: GraphqlBody }>;
  /** Returns the data of a query that has no errors. */
  data(query: string, variables?: object): Promise<Record<string, RowPage>>;
  /** Sends a body as it is. */
  post(body: string, headers?: Record<string, string>): Promise<Response>;
  /** Serves the same route once more. The caller closes it before the stage. */
  serveWithin(requestTimeoutMs: number): Promise<ApiServer>;
  /** Ends subscriptions, as a server that stops does. */
  endStreams(): void;
  close(): Promise<void>;
}

export interface GraphqlBody {
  readonly data?: Record<string, RowPage> | null;
  readonly errors?: readonly { message: string; path?: unknown; extensions: { code: string; remedy: string } }[];
}

export interface RowPage {
  readonly nodes: readonly Record<string, unknown>[];
  readonly edges: readonly { cursor: string }[];
  readonly totalCount?: { readonly count: number; readonly isExact: boolean };
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** @param rights of the role: `IN ROLE chainstead_reader` */
export async function openGraphqlStage(
  scratch: Pick<ScratchDatabase, 'database' | 'url'>,
  options: Partial<GraphqlOptions> = {},
): Promise<GraphqlStage> {
  const { database } = scratch;
  const role = `graphql_${randomBytes(6).toString('hex')}`;
  await database.query(sql`CREATE ROLE ${rawSql(role)} LOGIN PASSWORD 'secret' IN ROLE chainstead_reader`);
  const graphql = openGraphql({
    databaseUrl: urlOf(scratch.url, role),
    chains: createChainRegistry({ additional: [{ key: 'own-chain', id: 4242 }] }).all(),
    logger: silentLogger(),
    clock: systemClock,
    ...options,
  });
  const server = await serve(database, graphql);
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/graphql`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-api-key': EXAMPLE_KEY, ...headers },
    });
  const request: GraphqlStage['request'] = async (query, variables, operationName) => {
    const response = await post(JSON.stringify({ query, variables, operationName }));
    return { status: response.status, body: (await response.json()) as GraphqlBody };
  };
  return {
    url: server.url,
    post,
    request,
    async data(query, variables) {
      const { body } = await request(query, variables);
      if (body.data == null || body.errors !== undefined) throw new Error(JSON.stringify(body));
      return body.data;
    },
    serveWithin: (requestTimeoutMs) => serve(database, graphql, requestTimeoutMs),
    endStreams: () => graphql.endStreams(),
    async close() {
      graphql.endStreams();
      await server.close();
      await graphql.close();
      await database.query(sql`DROP ROLE ${rawSql(role)}`);
    },
  };
}

function urlOf(base: string, role: string): string {
  const url = new URL(base);
  url.username = role;
  url.password = 'secret';
  return url.href;
}

async function serve(database: Database, graphql: Graphql, requestTimeoutMs = 30_000): Promise<ApiServer> {
  const scopes: readonly KeyScope[] = ['rpc', 'streams', 'admin'];
  const api = await exampleApi(database, [withScope('data', [graphql.routes])], {
    openRoutes: [graphiqlPage('eth')],
    requestTimeoutMs,
    otherKeys: OTHER_KEYS,
    keys: [{ key: RPC_KEY, scopes: new Set(scopes) }],
  });
  return serveApi(api, { host: '127.0.0.1', port: 0 });
}
