import { ZERO_ADDRESS } from '@chainstead/core';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { account, ERC721, ERC1155, type Move } from '../transfers/testing/example-moves.ts';
import { type ListAnswer, openOwnersStage } from './testing/owners-stage.ts';

const stage = stageOfFile(openOwnersStage);
beforeEach(() => stage.empty());

const mint = (id: number, to: number, amount = 1n, token = ERC721): Move => ({
  token,
  id: BigInt(id),
  from: ZERO_ADDRESS,
  to: account(to),
  amount,
});
const give = (id: number, from: number, to: number, amount = 1n, token = ERC721): Move => ({
  ...mint(id, to, amount, token),
  from: account(from),
});
const held = (...pages: readonly ListAnswer[]): string[] =>
  pages.flatMap(({ result }) =>
    result.map((row) => `${row.token_id} ${row.owner_of} ${row.amount} @${row.block_number}`),
  );
const line = (id: number, owner: number, amount: number, block: number): string =>
  `${id} ${account(owner)} ${amount} @${block}`;

describe('owners of a collection', () => {
  test('are shown with what they own, newest change first', async () => {
    await stage.cover(0, 100);
    await stage.add(1, [mint(1, 1), mint(2, 1), mint(3, 2)]);
    await stage.add(4, [give(2, 1, 3)]);
    const answer = await stage.get(`${ERC721}/owners`);
    expect(held(answer)).toEqual([line(2, 3, 1, 4), line(3, 2, 1, 1), line(1, 1, 1, 1)]);
    expect({ ...answer, result: [] }).toEqual({
      status: 'SYNCED',
      page: 1,
      page_size: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: '100', complete: true },
      result: [],
    });
    expect(answer.result[0]).not.toHaveProperty('normalized_metadata');
    expect((await stage.get(`${ERC721}/owners?normalizeMetadata=true`)).result[0]).toHaveProperty(
      'normalized_metadata',
    );
  });

  test('of ERC-1155 are one row for each id and holder, with what it has', async () => {
    await stage.seen(ERC1155, 'erc1155');
    await stage.cover(0, 100);
    await stage.add(1, [mint(1, 1, 10n, ERC1155), mint(2, 1, 3n, ERC1155)]);
    await stage.add(2, [give(1, 1, 2, 4n, ERC1155), give(2, 1, 3, 3n, ERC1155)]);
    const rows = held(await stage.get(`${ERC1155}/owners`));
    expect(rows).toEqual([line(2, 3, 3, 2), line(1, 2, 4, 2), line(1, 1, 6, 2)]);
    expect(held(await stage.get(`${ERC1155}/1/owners`))).toEqual([line(1, 2, 4, 2), line(1, 1, 6, 2)]);
    expect(held(await stage.get(`${ERC1155}/0x2/owners`))).toEqual([line(2, 3, 3, 2)]);
    expect(held(await stage.get(`${ERC1155}/99/owners`))).toEqual([]);
  });

  test('of ERC-1155 are not shown while the beginning is missing: their amounts are not known', async () => {
    await stage.seen(ERC1155, 'erc1155');
    await stage.cover(1, 100);
    await stage.add(1, [mint(1, 1, 10n, ERC1155)]);
    const answer = await stage.get(`${ERC1155}/owners`);
    expect([held(answer), answer.status, answer.indexed.complete]).toEqual([[], 'SYNCING', false]);
  });

  test('of ERC-721 are those who received it last, whatever is missing before and between', async () => {
    await stage.seen(ERC721, 'erc721');
    await stage.cover(50, 100);
    await stage.add(60, [give(8, 4, 2)]);
    await stage.add(70, [give(8, 3, 4)]);
    expect(held(await stage.get(`${ERC721}/owners`))).toEqual([line(8, 4, 1, 70)]);
    expect(held(await stage.get(`${ERC721}/8/owners`))).toEqual([line(8, 4, 1, 70)]);
  });

  test('of an id that never moved since a range was minted are found by its own request', async () => {
    await stage.seen(ERC721, 'erc721');
    await stage.cover(0, 100);
    await stage.add(3, [{ ...mint(10, 1), last: 90_000n }]);
    expect(held(await stage.get(`${ERC721}/owners`))).toEqual([]);
    expect(held(await stage.get(`${ERC721}/89999/owners`))).toEqual([line(89_999, 1, 1, 3)]);
    expect(held(await stage.get(`${ERC721}/90001/owners`))).toEqual([]);
    await stage.add(5, [give(89_999, 1, 2)]);
    expect(held(await stage.get(`${ERC721}/89999/owners`))).toEqual([line(89_999, 2, 1, 5)]);
    expect(held(await stage.get(`${ERC721}/owners`))).toEqual([line(89_999, 2, 1, 5)]);
  });
});

describe('pages', () => {
  const IDS = Array.from({ length: 12 }, (_, id) => id);
  const seed = async (): Promise<void> => {
    await stage.cover(0, 12);
    for (const id of IDS) await stage.add(id + 1, [mint(id, id % 3)]);
  };
  const newestFirst = IDS.toReversed().map((id) => line(id, id % 3, 1, id + 1));

  test.each([1, 5])(
    'of %i leave out what changed since the first of them, and lose nothing else',
    async (limit) => {
      await seed();
      const pages = await stage.pages(`${ERC721}/owners?limit=${limit}`, (page) =>
        stage.add(20 + page, [mint(100 + page, 5), ...(page === 1 ? [give(2, 2, 7)] : [])]),
      );
      expect(held(...pages)).toEqual(newestFirst.filter((row) => !row.startsWith('2 ')));
    },
  );

  test.each([1, 5])(
    'of %i give no row twice and lose none when blocks are taken back between them',
    async (limit) => {
      await seed();
      // The newest two blocks are replaced by others with the same tokens.
      const pages = await stage.pages(`${ERC721}/owners?limit=${limit}`, async (page) => {
        if (page !== 1) return;
        await stage.remove(12);
        await stage.remove(11);
        await stage.add(11, [mint(11, 2)]);
        await stage.add(12, [mint(10, 1)]);
      });
      const owners = pages.flatMap(({ result }) => result.map((row) => `${row.token_id} ${row.owner_of}`));
      expect(new Set(owners).size).toBe(owners.length);
      expect(new Set(owners)).toEqual(new Set(IDS.map((id) => `${id} ${account(id % 3)}`)));
    },
  );

  test('of one id’s owners follow each other', async () => {
    await stage.seen(ERC1155, 'erc1155');
    await stage.cover(0, 100);
    for (const block of [1, 2, 3])
      await stage.add(
        block,
        IDS.map((owner) => mint(7, owner * 3 + block, 2n, ERC1155)),
      );
    const pages = await stage.pages(`${ERC1155}/7/owners?limit=5`);
    expect(pages.map(({ result }) => result.length)).toEqual([5, 5, 5, 5, 5, 5, 5, 1]);
    expect(new Set(held(...pages)).size).toBe(36);
    const blocks = pages.flatMap(({ result }) => result.map(({ block_number }) => Number(block_number)));
    expect(blocks).toEqual(blocks.toSorted((a, b) => b - a));
  });
});

test('an operation that is not served is no contract', async () => {
  expect((await stage.request('transfers')).status).toBe(501);
});
