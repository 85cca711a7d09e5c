/** The program's answers, as an application gets them. */
import { z } from 'zod';

export interface StoryAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

export interface StoryApi {
  /** @param path below `/api/v2.2/` */
  ask(path: string, query?: Readonly<Record<string, string>>): Promise<StoryAnswer>;
}

export function openApi(address: () => string, chain: string): StoryApi {
  return {
    async ask(path, query = {}) {
      const response = await fetch(`${address()}/api/v2.2/${path}?${new URLSearchParams({ chain, ...query })}`);
      return { status: response.status, body: await response.json(), headers: response.headers };
    },
  };
}

/** @throws UnansweredError unless the status is 200; ZodError for another shape than this */
export async function fetchOne<Body>(
  api: StoryApi,
  path: string,
  shape: z.ZodType<Body>,
  query: Readonly<Record<string, string>> = {},
): Promise<{ readonly body: Body; readonly headers: Headers }> {
  const answer = await api.ask(path, query);
  if (answer.status !== 200) throw new UnansweredError(path, answer);
  return { body: shape.parse(answer.body), headers: answer.headers };
}

/** A list to its end. */
export interface StoryList<Row> {
  readonly rows: readonly Row[];
  /** Whether every page said that nothing is missing. */
  readonly isComplete: boolean;
  /** The newest block that every page knew of; null where one knew of none. */
  readonly toBlock: number | null;
  /** Body of the first page. */
  readonly first: unknown;
}

const indexedShape = z.looseObject({ to_block: z.string().nullable(), complete: z.boolean() });

interface Page<Row> {
  readonly cursor: string | null;
  readonly indexed: z.output<typeof indexedShape>;
  readonly result: readonly Row[];
}

/** All pages of a list. @throws UnansweredError unless each is a 200; ZodError for a response that is no page */
export async function fetchAll<Row>(
  api: StoryApi,
  path: string,
  row: z.ZodType<Row>,
  limit: number,
): Promise<StoryList<Row>> {
  const shape: z.ZodType<Page<Row>> = z.looseObject({
    cursor: z.string().nullable(),
    indexed: indexedShape,
    result: z.array(row),
  });
  const rows: Row[] = [];
  let isComplete = true;
  let toBlock: number | null = Number.POSITIVE_INFINITY;
  let first: unknown = null;
  let query: Readonly<Record<string, string>> | null = { limit: String(limit) };
  while (query !== null) {
    const page: Page<Row> = (await fetchOne(api, path, shape, query)).body;
    const { cursor, indexed, result } = page;
    first ??= page;
    rows.push(...result);
    isComplete &&= indexed.complete;
    toBlock = toBlock === null || indexed.to_block === null ? null : Math.min(toBlock, Number(indexed.to_block));
    query = cursor === null ? null : { cursor };
  }
  return { rows, isComplete, toBlock, first };
}

/** It may answer later. */
export class UnansweredError extends Error {
  constructor(path: string, { status, body }: StoryAnswer) {
    super(`${path}: ${status} ${JSON.stringify(body)}`);
  }
}
