import { defineError } from '@chainstead/core';
import { DEMO_CHAIN_NAME } from 'chainstead/src/demo/demo-chain.ts';
import { z } from 'zod';

/** The API did not answer as it should. */
export class DemoApiError extends defineError('DEMO_API', (url: string, problem: string) => ({
  message: `GET ${url}: ${problem}`,
  facts: { url },
  retryable: true,
})) {}

/** Where the demo's questions go. */
export interface DemoApi {
  /** Such as `http://127.0.0.1:8080`. */
  readonly address: string;
  /** Sent with every question; none is needed from this machine while no key is configured. */
  readonly key?: string;
}

export interface DemoAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Asks one question about the demo's chain. @param path below `/api/v2.2/` */
export async function requestApi(
  { address, key }: DemoApi,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<DemoAnswer> {
  const url = `${address}/api/v2.2/${path}?${new URLSearchParams({ chain: DEMO_CHAIN_NAME, ...query })}`;
  const response = await fetch(url, key === undefined ? {} : { headers: { 'x-api-key': key } });
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    throw new DemoApiError(url, `${response.status}, and this is no JSON: ${text.slice(0, 200)}`);
  }
}

/** As {@link requestApi}, for what must be there. @throws DemoApiError */
export async function readApi<T>(
  api: DemoApi,
  path: string,
  shape: z.ZodType<T>,
  query: Readonly<Record<string, string>> = {},
): Promise<T> {
  const { status, body } = await requestApi(api, path, query);
  if (status !== 200) throw new DemoApiError(`/api/v2.2/${path}`, `${status} ${JSON.stringify(body)}`);
  const parsed = shape.safeParse(body);
  if (!parsed.success)
    throw new DemoApiError(`/api/v2.2/${path}`, `${z.prettifyError(parsed.error)} in ${JSON.stringify(body)}`);
  return parsed.data;
}

/** Small, so that a wallet of the demo has several pages. */
const PAGE_ROWS = '25';

/** All rows of a list, page by page. @throws DemoApiError */
export async function readAllPages<T>(
  api: DemoApi,
  path: string,
  row: z.ZodType<T>,
  query: Readonly<Record<string, string>> = {},
): Promise<T[]> {
  const page = z.object({ cursor: z.string().nullable(), result: z.array(row) });
  const rows: T[] = [];
  let more: Readonly<Record<string, string>> | null = { limit: PAGE_ROWS, ...query };
  while (more !== null) {
    const { result, cursor }: { result: T[]; cursor: string | null } = await readApi(api, path, page, more);
    rows.push(...result);
    more = cursor === null ? null : { ...query, cursor };
  }
  return rows;
}
