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

/** A list to its end. */
export interface StoryList<Row> {
  readonly rows: readonly Row[];
  /** Whether every page said that nothing is missing. */
  readonly isComplete: boolean;
  /** The newest block that every page knew of; null where one knew of none. */
  readonly toBlock: number | null;
  /** Of the first page. */
  readonly first: unknown;
}

const indexedShape = z.object({ to_block: z.string().nullable(), complete: z.boolean() });

/** All pages of a list. @throws Error for an answer that is no page */
export async function askAll<Row>(
  api: StoryApi,
  path: string,
  row: z.ZodType<Row>,
  limit: number,
): Promise<StoryList<Row>> {
  const page = z.object({ cursor: z.string().nullable(), indexed: indexedShape, result: z.array(row) });
  const rows: Row[] = [];
  let isComplete = true;
  let toBlock: number | null = Number.POSITIVE_INFINITY;
  let first: unknown = null;
  let query: Readonly<Record<string, string>> | null = { limit: String(limit) };
  while (query !== null) {
    const { status, body }: StoryAnswer = await api.ask(path, query);
    if (status !== 200) throw new UnansweredError(`${path}: ${status} ${JSON.stringify(body)}`);
    const { cursor, indexed, result } = page.parse(body);
    first ??= body;
    rows.push(...result);
    isComplete &&= indexed.complete;
    toBlock = toBlock === null || indexed.to_block === null ? null : Math.min(toBlock, Number(indexed.to_block));
    query = cursor === null ? null : { cursor };
  }
  return { rows, isComplete, toBlock, first };
}

/** It may answer later. */
export class UnansweredError extends Error {}
