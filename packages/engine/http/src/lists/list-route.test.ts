import { createChainRegistry } from '@chainstead/chains';
import { createCursorCodec } from '@chainstead/core';
import { RESULT_BYTES_MAX, ROW_BYTES_MAX } from '@chainstead/db';
import { z } from '@hono/zod-openapi';
import { describe, expect, test } from 'vitest';
import type { RouteModule } from '../api-dependencies.ts';
import { NotFoundError } from '../errors/api-error.ts';
import type { IndexedHere } from '../parameters/indexed-chains.ts';
import { totalOfRun } from '../parameters/paging.ts';
import { querySchema } from '../parameters/parameters.ts';
import { createDemoApi, errorOf, WALLET } from '../testing/demo-api.ts';
import { defineListRoute, definePagedRoute } from './list-route.ts';

const DATASET = 'demo-rows';

/** Lists the numbers below ten, highest first. */
function numbersRoute(cursorName: string, path: string): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    defineListRoute(app, dependencies, {
      path,
      operationId: cursorName,
      tags: ['Demo'],
      summary: 'List numbers',
      description: 'Numbers below ten.',
      params: z.object({ address: parameters.address }),
      query: querySchema({ chain: parameters.chain, limit: parameters.limit, cursor: parameters.cursor }),
      response: {
        description: 'A page of numbers',
        schema: z.object({
          page: z.int(),
          page_size: z.int(),
          cursor: z.string().nullable(),
          requester: z.string(),
          upper_bound: z.int().nullable(),
          result: z.array(z.int()),
        }),
      },
      errors: [404],
      datasets: [DATASET],
      cursorName,
      filter: z.object({ address: z.string(), chain: z.string().default('eth') }),
      filterOf: ({ address, chain }) => ({ address, chain: chain?.key }),
      position: z.object({ below: z.int() }),
      firstPage: 1,
      read: async ({ limit, position, upperBound }) => {
        const below = position?.below ?? 10;
        const numbers = Array.from({ length: below }, (_, index) => below - 1 - index).slice(0, limit);
        const last = numbers.at(-1) ?? 0;
        return { numbers, next: last === 0 ? null : { position: { below: last }, upperBound: upperBound ?? 9 } };
      },
      present: ({ numbers }, envelope, { requester, upperBound }) => ({
        ...envelope,
        requester,
        upper_bound: upperBound,
        result: numbers,
      }),
    });
  };
}

const PATH = `/demo/${WALLET}/numbers`;

const CURSORS = createCursorCodec(Buffer.alloc(32, 7));
const ETH = createChainRegistry().get('eth');

function demo(indexed: IndexedHere = { chains: [ETH], datasets: [DATASET] }) {
  const routes = [
    numbersRoute('numbers', '/demo/{address}/numbers'),
    numbersRoute('others', '/demo/{address}/others'),
  ];
  return createDemoApi({ routes, cursors: CURSORS, indexed }).app;
}

interface Answer {
  readonly page: number;
  readonly page_size: number;
  readonly cursor: string | null;
  readonly upper_bound: number | null;
  readonly result: readonly number[];
}

async function read(query: string): Promise<Answer> {
  const response = await demo().request(`${PATH}?${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

describe('a list', () => {
  test('opens a page, reads it, and continues behind its last row', async () => {
    const first = await read('limit=6');
    expect(first).toMatchObject({
      page: 1,
      page_size: 6,
      requester: 'open',
      upper_bound: null,
      result: [9, 8, 7, 6, 5, 4],
    });
    const second = await read(`cursor=${first.cursor}`);
    expect(second).toMatchObject({ page: 2, page_size: 6, cursor: null, upper_bound: 9, result: [3, 2, 1, 0] });
  });

  test('has as many rows a page as the server allows where the request does not say', async () => {
    expect((await read('')).page_size).toBe(50);
  });

  test('refuses the cursor of another list, another filter, and a position of another shape', async () => {
    const { cursor } = await read('limit=1');
    const refused = async (path: string) => {
      const response = await demo().request(path);
      expect(response.status).toBe(400);
      return (await errorOf(response)).message;
    };
    const foreign = 'cursor must be the cursor of an earlier page of this query, unchanged';
    expect(await refused(`/demo/${WALLET}/others?cursor=${cursor}`)).toContain(foreign);
    expect(await refused(`${PATH}?cursor=${cursor}&chain=base`)).toContain(
      'chain must be "eth" as in the cursor',
    );
    const claims = {
      r: 'numbers',
      f: { address: WALLET, chain: 'eth' },
      l: 1,
      o: 'DESC',
      n: 1,
      p: { below: 'x' },
      u: 9,
    };
    expect(await refused(`${PATH}?cursor=${CURSORS.encode(claims)}`)).toContain(foreign);
  });

  test('says which setting indexes a chain or a dataset that is off', async () => {
    const refusals = [
      { chains: [], datasets: [DATASET] },
      { chains: [ETH], datasets: [] },
    ].map(async (indexed) => {
      const response = await demo(indexed).request(PATH);
      return { status: response.status, ...(await errorOf(response)) };
    });
    expect(await Promise.all(refusals)).toMatchObject([
      { status: 400, details: { reason: 'not-indexed', configuration_key: 'CHAINS' } },
      {
        status: 400,
        message: 'Dataset demo-rows is not indexed here: add it to DATASETS (DATASETS=demo-rows,…) and restart',
        details: { reason: 'not-indexed', configuration_key: 'DATASETS' },
      },
    ]);
  });

  test('documents itself', async () => {
    const document = (await (await demo().request('/openapi.json')).json()) as {
      paths: Record<string, { get: { parameters: { name: string }[]; responses: Record<string, object> } }>;
    };
    const { parameters, responses } = document.paths['/demo/{address}/numbers']?.get ?? {};
    expect(parameters?.map(({ name }) => name)).toEqual(['address', 'chain', 'limit', 'cursor']);
    expect(Object.keys(responses ?? {})).toEqual(['200', '400', '401', '403', '404', '429', '500', '503']);
  });
});

/** Lists rows whose texts have the given lengths; escapes make each text six times as long. */
function textsRoute(lengths: readonly number[]): RouteModule {
  return (app, dependencies) => {
    definePagedRoute(app, dependencies, {
      path: '/demo/texts',
      operationId: 'listTexts',
      tags: ['Demo'],
      summary: 'List texts',
      query: querySchema({ limit: dependencies.parameters.limit, cursor: dependencies.parameters.cursor }),
      response: {
        description: 'A page of texts',
        schema: z.object({
          page_size: z.int(),
          total: z.int().nullable(),
          cursor: z.string().nullable(),
          result: z.array(z.object({ row: z.int(), text: z.string() })),
        }),
      },
      errors: [400, 413],
      cursorName: 'texts',
      filter: z.object({}),
      filterOf: () => ({}),
      position: z.int(),
      firstPage: 0,
      prepare: (page) => page,
      read: async ({ limit, position }) => {
        const from = position === null ? 0 : position + 1;
        const rows = lengths.slice(from, from + limit).map((length, index) => ({ row: from + index, length }));
        const last = from + rows.length - 1;
        return { rows, next: last < lengths.length - 1 ? { position: last, upperBound: 0 } : null };
      },
      present: ({ rows, next }, envelope, page) => ({
        ...envelope,
        total: totalOfRun(page, { rows: rows.length, isLast: next === null }),
        result: rows.map(({ row, length }) => ({ row, text: '\u0001'.repeat(length) })),
      }),
    });
  };
}

describe('a list with rows of a megabyte', () => {
  interface TextsPage {
    readonly page_size: number;
    readonly total: number | null;
    readonly cursor: string | null;
    readonly result: readonly { readonly row: number }[];
  }

  async function readAll(lengths: readonly number[]): Promise<readonly TextsPage[]> {
    const { app } = createDemoApi({ routes: [textsRoute(lengths)], cursors: CURSORS });
    const pages: TextsPage[] = [];
    for (let query = 'limit=20'; ; ) {
      const response = await app.request(`/demo/texts?${query}`);
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text.length).toBeLessThanOrEqual(RESULT_BYTES_MAX);
      const page = JSON.parse(text) as TextsPage;
      pages.push(page);
      if (page.cursor === null) return pages;
      query = `cursor=${page.cursor}`;
    }
  }

  test('ends a page early, and its cursor continues after the last row', async () => {
    const pages = await readAll([
      ...Array.from({ length: 12 }, () => 170_000),
      ...Array.from({ length: 60 }, () => 1),
    ]);
    expect(pages.flatMap(({ result }) => result.map(({ row }) => row))).toEqual(
      Array.from({ length: 72 }, (_, row) => row),
    );
    // Once rows are small again, pages grow to the requested size.
    expect(pages.map(({ result }) => result.length)).toEqual([5, 10, 20, 20, 17]);
    expect(new Set(pages.map(({ page_size }) => page_size))).toEqual(new Set([20]));
    expect(pages.at(-1)?.total).toBeNull();
  });

  test('has a page for a row that is larger than other pages, and for each of its neighbors', async () => {
    const { app } = createDemoApi({ routes: [textsRoute([1, 1_500_000, 1])], cursors: CURSORS });
    const rows: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = (await (
        await app.request(cursor === '' ? '/demo/texts?limit=3' : `/demo/texts?cursor=${cursor}`)
      ).json()) as TextsPage;
      rows.push(...page.result.map(({ row }) => row));
      cursor = page.cursor;
    }
    expect(rows).toEqual([0, 1, 2]);
  });

  test('refuses a row that no response can contain', async () => {
    const { app } = createDemoApi({ routes: [textsRoute([ROW_BYTES_MAX / 6 + 1])], cursors: CURSORS });
    const response = await app.request('/demo/texts');
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({
      message: `The data of this response is larger than ${ROW_BYTES_MAX} bytes: request fewer rows with limit, or a narrower range`,
      details: { reason: 'response-too-large', limit_bytes: ROW_BYTES_MAX },
    });
  });
});

/** Lists the words of a body in order; returns null while the first word is "later". */
const wordsRoute: RouteModule = (app, dependencies) => {
  definePagedRoute(app, dependencies, {
    path: '/demo/words',
    operationId: 'listWords',
    tags: ['Demo'],
    summary: 'List words',
    query: querySchema({ limit: dependencies.parameters.limit, cursor: dependencies.parameters.cursor }),
    body: z.object({ words: z.array(z.string()) }),
    response: {
      description: 'A page of words',
      schema: z.object({ result: z.array(z.string()), cursor: z.string().nullable() }),
    },
    pending: { description: 'Not yet', schema: z.object({ message: z.string() }), body: { message: 'Later.' } },
    errors: [400, 413],
    cursorName: 'words',
    filter: z.object({ words: z.array(z.string()) }),
    filterOf: ({ body }) => ({ words: body.words }),
    refusal: () => new NotFoundError('no such page'),
    position: z.int(),
    firstPage: 0,
    prepare: (page) => ({ ...page, isReady: page.filter.words[0] !== 'later' }),
    read: async ({ isReady, filter: { words }, limit, position }) => {
      const from = position ?? 0;
      const next = from + limit < words.length ? { position: from + limit, upperBound: 0 } : null;
      return isReady ? { words: words.slice(from, from + limit), next } : null;
    },
    present: ({ words }, { cursor }) => ({ result: words, cursor }),
  });
};

describe('a list of no chain', () => {
  const { app } = createDemoApi({ routes: [wordsRoute], cursors: CURSORS });
  const post = async (words: readonly string[], query = 'limit=2') => {
    const response = await app.request(`/demo/words?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ words }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  test('is bound to the body of its requests, and refuses in its own words', async () => {
    const words = ['one', 'two', 'three'];
    const { body } = await post(words);
    expect(body).toMatchObject({ result: ['one', 'two'] });
    expect((await post(words, `cursor=${body.cursor}`)).body).toEqual({ result: ['three'], cursor: null });
    expect(await post(['one', 'two'], `cursor=${body.cursor}`)).toMatchObject({
      status: 404,
      body: { message: 'no such page' },
    });
  });

  test('responds 202 while its rows are not there', async () => {
    expect(await post(['later'])).toEqual({ status: 202, body: { message: 'Later.' } });
  });

  test('documents its body and its own statuses', async () => {
    const document = (await (await app.request('/openapi.json')).json()) as {
      paths: Record<string, { post: { requestBody: object; responses: Record<string, object> } }>;
    };
    const operation = document.paths['/demo/words']?.post;
    expect(operation?.requestBody).toMatchObject({ required: true });
    expect(Object.keys(operation?.responses ?? {})).toEqual(['200', '202', '400', '413']);
  });
});
