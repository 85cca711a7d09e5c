import type { Database } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi as exampleApiOf } from '@chainstead/http/testing';
import { createAptosRoutes } from '../routes/aptos-routes.ts';
import type { NetworkChoice } from '../routes/parameter.ts';

export { EXAMPLE_KEY };

/** Creates the API with the Aptos routes, as the program composes it. */
export function exampleApi(
  database: Database,
  networks: NetworkChoice = { indexed: ['mainnet', 'testnet'] },
): Promise<ApiApp> {
  return exampleApiOf(database, createAptosRoutes(networks));
}

/** An envelope of the Aptos routes. */
export interface Envelope<Row = Readonly<Record<string, unknown>>> {
  readonly cursor: string | null;
  readonly hasNextPage: boolean;
  readonly indexed: {
    readonly from_version: string | null;
    readonly to_version: string | null;
    readonly complete: boolean;
  };
  readonly result: readonly Row[];
}

/** Reads a page with the accepted key. @throws TypeError if the status is not 200 */
export async function readPage<Row = Readonly<Record<string, unknown>>>(
  app: ApiApp,
  path: string,
): Promise<Envelope<Row>> {
  const response = await ask(app, path);
  if (response.status !== 200) throw new TypeError(`${response.status}: ${await response.text()}`);
  return response.json() as Promise<Envelope<Row>>;
}

/** Returns the rows of all pages, by cursor. @param between called between two pages */
export async function readAll<Row = Readonly<Record<string, unknown>>>(
  app: ApiApp,
  path: string,
  between: () => Promise<void> = async () => {},
): Promise<Row[][]> {
  const pages: Row[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Envelope<Row> = await readPage<Row>(app, cursor === '' ? path : `${path}&cursor=${cursor}`);
    if (page.hasNextPage !== (page.cursor !== null)) throw new TypeError('hasNextPage and cursor disagree');
    pages.push([...page.result]);
    cursor = page.cursor;
    if (cursor !== null) await between();
  }
  return pages;
}

export function ask(
  app: ApiApp,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return Promise.resolve(app.request(path, { headers: { 'x-api-key': EXAMPLE_KEY, ...headers } }));
}
