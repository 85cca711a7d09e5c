import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDemoApi, TOKEN, WALLET } from '../testing/demo-api.ts';
import { givenBlockBounds, totalOfRun } from './paging.ts';

const { app } = createDemoApi();

interface Answer {
  readonly page: number;
  readonly page_size: number;
  readonly cursor: string | null;
  readonly order: string;
  readonly chain_id: number;
  readonly filter: Readonly<Record<string, unknown>>;
  readonly result: readonly { readonly n: number }[];
}

async function read(query: string): Promise<Answer> {
  const response = await app.request(`/demo/${WALLET}/rows?${query}`);
  expect(response.status).toBe(200);
  return response.json() as Promise<Answer>;
}

describe('a run of pages', () => {
  test('gives every row once, in order, and null as its last cursor', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 7, max: 70 }), fc.constantFrom('ASC', 'DESC'), async (limit, order) => {
        const seen: number[] = [];
        const pages: number[] = [];
        let query = `limit=${limit}&order=${order}`;
        for (;;) {
          const answer = await read(query);
          seen.push(...answer.result.map((row) => row.n));
          pages.push(answer.page);
          if (answer.cursor === null) break;
          query = `cursor=${answer.cursor}`;
        }
        const all = Array.from({ length: 120 }, (_, n) => n);
        expect(seen).toEqual(order === 'ASC' ? all : all.reverse());
        expect(pages).toEqual(pages.map((_, index) => index));
      }),
      { numRuns: 20 },
    );
  });

  test('keeps what its first request said when later ones leave it out', async () => {
    const first = await read(`chain=base&order=ASC&limit=3&from_block=5&contract_addresses=${TOKEN}`);
    const second = await read(`cursor=${first.cursor}`);
    expect(second).toMatchObject({ page: 1, page_size: 3, order: 'ASC', chain_id: 8453, filter: first.filter });
  });

  test('accepts the same parameters again, in another spelling', async () => {
    const first = await read(`chain=base&limit=3&from_block=5&from_date=2024-01-01&contract_addresses=${TOKEN}`);
    const again = `chain=0x2105&limit=3&order=desc&from_block=5&from_date=2024-01-01&contract_addresses[]=${TOKEN}`;
    const second = await read(`${again}&cursor=${first.cursor}`);
    expect(second).toMatchObject({ page: 1, page_size: 3, order: 'DESC' });
    expect(second.result[0]?.n).toBe(116);
  });

  test('hands the state of the database that it showed on to its next page, and asks for the newest where none is named', async () => {
    const required: (string | null)[] = [];
    let position: string | null = '0/2A';
    const shown = {
      position: () => position,
      requireAtLeast: (least: string | null) => void required.push(least),
    };
    const demo = createDemoApi({ shown });
    const follow = async (cursor: string): Promise<Answer> =>
      (
        await demo.app.request(`/demo/${WALLET}/rows?${cursor === '' ? 'limit=3' : `cursor=${cursor}`}`)
      ).json() as Promise<Answer>;
    const first = await follow('');
    expect(required).toEqual([]);
    position = null;
    const second = await follow(first.cursor ?? '');
    const third = await follow(second.cursor ?? '');
    expect(required).toEqual(['0/2A', null]);
    expect(third.result[0]?.n).toBe(113);
    // A process without standbys accepts the same cursors.
    expect((await read(`cursor=${first.cursor}`)).result).toEqual(second.result);
  });

  test('begins with an empty cursor', async () => {
    expect((await read('cursor=&limit=3')).page).toBe(0);
  });

  test('goes back: a cursor may be used again', async () => {
    const { cursor } = await read('limit=3');
    expect(await read(`cursor=${cursor}`)).toEqual(await read(`cursor=${cursor}`));
  });
});

test('the total of a run is known on its last page only, unless a page was cut', () => {
  const cutTo = null;
  expect(totalOfRun({ page: 0, limit: 10, cutTo }, { rows: 10, isLast: false })).toBeNull();
  expect(totalOfRun({ page: 0, limit: 10, cutTo }, { rows: 4, isLast: true })).toBe(4);
  expect(totalOfRun({ page: 3, limit: 10, cutTo }, { rows: 4, isLast: true })).toBe(34);
  expect(totalOfRun({ page: 0, limit: 10, cutTo }, { rows: 0, isLast: true })).toBe(0);
  expect(totalOfRun({ page: 3, limit: 10, cutTo: 5 }, { rows: 4, isLast: true })).toBeNull();
});

test('a side of the block range that a request omits is left to the cursor', () => {
  const date = new Date('2024-01-01');
  const omitted = { from_block: undefined, to_block: undefined, from_date: undefined, to_date: undefined };
  expect(givenBlockBounds({})).toEqual(omitted);
  expect(givenBlockBounds({ from_date: date })).toEqual({
    ...omitted,
    from_block: null,
    from_date: date.getTime(),
  });
  expect(givenBlockBounds({ to_date: date })).toEqual({ ...omitted, to_block: null, to_date: date.getTime() });
  expect(givenBlockBounds({ from_block: 5, from_date: date })).toEqual({
    ...omitted,
    from_block: 5,
    from_date: null,
  });
});
