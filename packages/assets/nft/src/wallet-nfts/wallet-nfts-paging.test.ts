import { addressOf } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { openWalletNftsStage, tokensOf, type WalletNfts } from './testing/wallet-nfts-stage.ts';

const CATS = addressOf(0xca);
const DOGS = addressOf(0xd0);
const [CAT] = [0xca];

const stage = stageOfFile(openWalletNftsStage);
beforeEach(() => stage.empty());

/** Reads all pages; `between` runs after each. */
async function readAll(query: string, between?: (page: number) => Promise<void>): Promise<WalletNfts[]> {
  const pages = [await stage.get(query)];
  for (let cursor = pages[0]?.cursor ?? null; cursor !== null; cursor = pages.at(-1)?.cursor ?? null) {
    await between?.(pages.length);
    pages.push(await stage.get(`?cursor=${cursor}`));
  }
  return pages;
}

describe('pages', () => {
  test('are the whole answer cut in pieces, newest change first, whatever the limit', async () => {
    await stage.cover(0, 10_000);
    const holdings = Array.from({ length: 23 }, (_, index) => ({
      token: index % 3 === 0 ? CATS : DOGS,
      id: String((index * 7) % 23),
      block: 9_000 + (index >> 2) * 200,
    }));
    await stage.hold(...holdings);
    const whole = await readAll('?limit=100');
    expect(whole).toHaveLength(1);
    const rows = whole.flatMap(tokensOf);
    expect(new Set(rows)).toEqual(new Set(holdings.map(({ token, id }) => `${Number(token)}:${id}`)));
    const blocks = whole.flatMap(({ result }) => result.map(({ block_number }) => Number(block_number)));
    expect(blocks).toEqual(blocks.toSorted((a, b) => b - a));
    for (const limit of [1, 2, 7, 22, 23]) {
      const pages = await readAll(`?limit=${limit}`);
      expect(pages.flatMap(tokensOf)).toEqual(rows);
      expect(pages.map(({ page, page_size }) => [page, page_size])).toEqual(
        pages.map((_unused, index) => [index + 1, limit]),
      );
    }
  });

  test('keep out what arrives or changes after the first, which has left its place', async () => {
    await stage.cover(0, 100);
    await stage.hold(...[90, 80, 70, 60, 50].map((block) => ({ token: CATS, id: String(block), block })));
    const pages = await readAll('?limit=2', async (page) => {
      if (page > 1) return;
      await stage.cover(0, 101);
      await stage.hold({ token: CATS, id: '60', block: 101 }, { token: DOGS, id: '1', block: 101 });
    });
    expect(pages.flatMap(tokensOf)).toEqual([90, 80, 70, 50].map((id) => `${CAT}:${id}`));
  });
});
