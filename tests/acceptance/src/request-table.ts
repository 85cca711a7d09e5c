/** Tables of requests, each with the status and the whole body that answers it, sent over a real socket. */
import type { ChainRegistry } from '@chainstead/chains';
import type { Database } from '@chainstead/db';
import type { IndexedHere, RouteModule } from '@chainstead/http';
import { serveApi, unservedRoutes } from '@chainstead/http/server';
import type { Closable } from '@chainstead/testkit';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Largest request body of routes that need no more. Bytes. */
export const BODY_BYTES_MAX = 262_144;
/** Largest request body of all. Bytes. */
export const SERVER_BYTES_MAX = 1_000_000;

export interface SentRequest {
  /** Default GET. */
  readonly method?: string;
  readonly contentType?: string;
  readonly sent?: string;
}

/** Names in braces are filled in from the stage. */
export interface TableRequest extends SentRequest {
  readonly operation: string;
  /** Below `/api/v2.2`. */
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
  /** Subject of the body, if the request does not show it. */
  readonly about?: string;
}

/** @param path below `/api/v2.2` */
export type Ask = (
  path: string,
  sent?: SentRequest,
) => Promise<{ readonly status: number; readonly body: unknown }>;

export interface RequestStage extends Closable {
  readonly ask: Ask;
  /** What requests and bodies call by name in braces. */
  readonly known: Readonly<Record<string, string>>;
}

/** Serves routes, and paths of the hosted API that are none, for as long as the stack lives. */
export async function serveRoutes(
  parts: AsyncDisposableStack,
  database: Database,
  chains: ChainRegistry,
  routes: readonly RouteModule[],
  indexed: IndexedHere,
): Promise<Ask> {
  const api = await createApiUnderTest(database, chains, [...routes, unservedRoutes], indexed);
  const server = parts.adopt(await serveApi(api, { host: '127.0.0.1', port: 0 }), (one) => one.close());
  return async (path, { method = 'GET', contentType, sent } = {}) => {
    const answer = await fetch(`${server.url}/api/v2.2${path}`, {
      method,
      headers: { 'x-api-key': TEST_KEY, ...(contentType !== undefined && { 'content-type': contentType }) },
      ...(sent !== undefined && { body: sent }),
    });
    return { status: answer.status, body: await answer.json() };
  };
}

/** The cursor of a list's first page of one row. @throws Error where it has no second one */
export async function cursorOf(ask: Ask, path: string): Promise<string> {
  const { status, body } = await ask(`${path}?limit=1`);
  const { cursor } = Object(body) as { cursor?: unknown };
  if (typeof cursor !== 'string') throw new Error(`No cursor of ${path}: ${status} ${JSON.stringify(body)}`);
  return cursor;
}

export interface RequestTable<Stage extends RequestStage> {
  /** Names of all operations. */
  readonly operations: readonly string[];
  readonly requests: readonly TableRequest[];
  /** How many requests there are at least. */
  readonly least: number;
  open(): Promise<Stage>;
}

/** Sends every request of a table. @returns the stage, while tests run */
export function testRequests<Stage extends RequestStage>(table: RequestTable<Stage>): () => Stage {
  const { operations, requests, least, open } = table;
  let stage: Stage;
  beforeAll(async () => {
    stage = await open();
  });
  afterAll(() => stage?.close());

  const fill = (text: string): string =>
    text.replaceAll(/\{([A-Za-z0-9]+)\}/g, (whole, name: string) => stage.known[name] ?? whole);

  describe.each(operations)('%s', (name) => {
    const own = requests.filter(({ operation }) => operation === name);

    test.each(own.map((request) => ({ title: titleOf(request), request })))('$title', async ({ request }) => {
      const { path, status, body } = request;
      expect(await stage.ask(fill(path), request)).toEqual({
        status,
        body: JSON.parse(fill(JSON.stringify(body))),
      });
    });

    test('has at least three of them', () => {
      expect(own.length).toBeGreaterThanOrEqual(3);
    });
  });

  test(`there are at least ${least}, each another one`, () => {
    const reported = requests.map(({ method, path, contentType, sent }) =>
      [method, path, contentType, sent].join(),
    );
    expect(new Set(reported).size).toBe(reported.length);
    expect(reported.length).toBeGreaterThanOrEqual(least);
  });
  return () => stage;
}

function titleOf({ method = 'GET', path, sent = '', about = sent }: TableRequest): string {
  return `${method} ${path} ${about}`.slice(0, 160).trim();
}
