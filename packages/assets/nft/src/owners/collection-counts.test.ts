import { ZERO_ADDRESS } from '@chainstead/core';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { account, ERC721, ERC1155, type Move } from '../transfers/testing/example-moves.ts';
import { openOwnersStage } from './testing/owners-stage.ts';

const stage = stageOfFile(openOwnersStage);
beforeEach(() => stage.empty());

const mint = (id: number, to: number, token = ERC721): Move => ({
  token,
  id: BigInt(id),
  from: ZERO_ADDRESS,
  to: account(to),
  amount: 1n,
});
const give = (id: number, from: number, to: number): Move => ({ ...mint(id, to), from: account(from) });

interface UniqueOwners {
  readonly page: number;
  readonly pageSize: number;
  readonly cursor: string | null;
  readonly indexed: { readonly complete: boolean };
  readonly walletAddresses: readonly string[];
}

const owners = (query = ''): Promise<UniqueOwners> => stage.get(`${ERC721}/unique-owners${query}`);

async function ownersToTheEnd(limit: number, between = async (_page: number): Promise<void> => {}) {
  const pages = [await owners(`?limit=${limit}`)];
  for (let last = pages[0]; last !== undefined && last.cursor !== null; last = pages.at(-1)) {
    await between(pages.length);
    pages.push(await owners(`?cursor=${last.cursor}`));
  }
  return pages;
}

describe('the owners of a collection', () => {
  test('are addresses, ascending, each once, without who has nothing any more', async () => {
    await stage.cover(0, 100);
    await stage.add(1, [mint(1, 9), mint(2, 9), mint(3, 4), mint(4, 2)]);
    await stage.add(2, [give(3, 4, 5)]);
    expect(await owners()).toEqual({
      page: 1,
      pageSize: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: '100', complete: true },
      walletAddresses: [2, 5, 9].map(account),
    });
  });

  test('come in pages of up to 5,000', async () => {
    await stage.add(
      1,
      Array.from({ length: 5_003 }, (_, id) => mint(id, id)),
    );
    const [first, second] = await ownersToTheEnd(90_000);
    expect([first?.pageSize, first?.walletAddresses.length]).toEqual([5_000, 5_000]);
    expect([second?.page, second?.walletAddresses]).toEqual([2, [5_000, 5_001, 5_002].map(account)]);
  });

  test.each([1, 100])(
    'in pages of %i come once, while blocks arrive and are taken back between them',
    async (limit) => {
      const all = Array.from({ length: 20 }, (_, id) => id);
      await stage.add(
        1,
        all.map((id) => mint(id, id * 2)),
      );
      const pages = await ownersToTheEnd(limit, async (page) => {
        if (page % 2 === 0) await stage.remove(100 + page - 1);
        await stage.add(100 + page, [mint(1_000 + page, page * 2 + 1), mint(2_000 + page, 4)]);
      });
      const found = pages.flatMap(({ walletAddresses }) => walletAddresses);
      expect(found).toEqual([...new Set(found)].toSorted());
      expect(all.map((id) => account(id * 2)).filter((address) => !found.includes(address))).toEqual([]);
    },
  );
});

describe('the statistics of a collection', () => {
  test('are exact, as text, and those of nothing are zero', async () => {
    await stage.cover(0, 100);
    const indexed = { from_block: '0', to_block: '100', complete: true };
    const none = { total_tokens: '0', owners: { current: '0' }, transfers: { total: '0' }, indexed };
    expect(await stage.get(`${ERC721}/stats`)).toEqual(none);
    await stage.add(1, [mint(1, 1), mint(2, 1), mint(3, 2), mint(3, 2, ERC1155)]);
    await stage.add(2, [give(2, 1, 1), { ...give(3, 2, 2), to: ZERO_ADDRESS }]);
    const counts = { total_tokens: '2', owners: { current: '1' }, transfers: { total: '5' }, indexed };
    expect(await stage.get(`${ERC721}/stats`)).toEqual(counts);
    await stage.remove(2);
    expect(await stage.get(`${ERC721}/stats`)).toMatchObject({
      total_tokens: '3',
      owners: { current: '2' },
      transfers: { total: '3' },
    });
  });

  test('say so where blocks are missing', async () => {
    await stage.seen(ERC721, 'erc721');
    await stage.cover(50, 100);
    await stage.add(60, [give(1, 1, 2)]);
    expect(await stage.get(`${ERC721}/stats`)).toEqual({
      total_tokens: '1',
      owners: { current: '1' },
      transfers: { total: '1' },
      indexed: { from_block: '50', to_block: '100', complete: false },
    });
  });
});
