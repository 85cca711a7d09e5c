import { createHash } from 'node:crypto';
import { ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { storeToken } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { account, ERC721, ERC1155, type Move } from '../transfers/testing/example-moves.ts';
import { eth, type ListAnswer, openOwnersStage } from './testing/owners-stage.ts';

const stage = stageOfFile(openOwnersStage);
beforeEach(() => stage.empty());

const mint = (id: number, to: number, amount = 1n, token = ERC721): Move => ({
  token,
  id: BigInt(id),
  from: ZERO_ADDRESS,
  to: account(to),
  amount,
});
const give = (id: number, from: number, to: number): Move => ({ ...mint(id, to), from: account(from) });
const hashOf = (id: number | bigint): string => createHash('md5').update(`${ERC721}${id}`).digest('hex');
/** Highest hash first. */
const byHash = (ids: readonly number[]): string[] =>
  ids.toSorted((a, b) => (hashOf(a) < hashOf(b) ? 1 : -1)).map(String);
const idsOf = (...pages: readonly ListAnswer[]): unknown[] =>
  pages.flatMap(({ result }) => result.map(({ token_id }) => token_id));

describe('an NFT of a collection', () => {
  test('is shown with every field, what is not known as null', async () => {
    await stage.cover(0, 100);
    await stage.add(7, [mint(5, 1)]);
    await stage.add(9, [give(5, 1, 2)]);
    expect(await stage.get(ERC721)).toEqual({
      status: 'SYNCED',
      page: 0,
      page_size: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: '100', complete: true },
      result: [
        {
          token_address: ERC721,
          token_id: '5',
          owner_of: account(2),
          amount: '1',
          token_hash: hashOf(5),
          block_number: '9',
          block_number_minted: '7',
          contract_type: null,
          name: null,
          symbol: null,
          token_uri: null,
          metadata: null,
          normalized_metadata: {
            name: null,
            description: null,
            image: null,
            animation_url: null,
            external_link: null,
            external_url: null,
            attributes: [],
          },
          minter_address: null,
          last_token_uri_sync: null,
          last_metadata_sync: null,
          possible_spam: false,
          verified_collection: false,
          rarity_rank: null,
          rarity_percentage: null,
          rarity_label: null,
          collection_logo: null,
          collection_banner_image: null,
        },
      ],
    });
  });

  test('has prices, media and an id in hexadecimal digits where they are asked for, and no normalised document where not', async () => {
    await stage.add(1, [mint(255, 1)]);
    const [row] = (
      await stage.get(`${ERC721}?format=hex&include_prices=true&media_items=true&normalizeMetadata=false`)
    ).result;
    expect(row).toMatchObject({
      token_id: '0xff',
      token_hash: hashOf(255),
      media: null,
      last_sale: null,
      floor_price: null,
      list_price: { listed: false, price: null },
    });
    expect(row).not.toHaveProperty('normalized_metadata');
    expect((await stage.get(ERC721.toUpperCase().replace('0X', '0x'))).result[0]?.token_id).toBe('255');
  });

  test('that was burned is not shown, and is again when it comes back', async () => {
    await stage.add(1, [mint(1, 1), mint(2, 1)]);
    await stage.add(2, [{ ...mint(1, 1), from: account(1), to: ZERO_ADDRESS }]);
    expect(idsOf(await stage.get(ERC721))).toEqual(['2']);
    await stage.add(3, [mint(1, 4)]);
    expect(new Set(idsOf(await stage.get(ERC721)))).toEqual(new Set(['1', '2']));
  });

  test('of ERC-1155 belongs to nobody here and has what all hold together, once that is known', async () => {
    await stage.seen(ERC1155, 'erc1155');
    await stage.cover(1, 100);
    await stage.add(1, [mint(1, 1, 10n, ERC1155), mint(1, 2, 5n, ERC1155)]);
    const shown = async () => (await stage.get(ERC1155)).result[0];
    expect(await shown()).toMatchObject({ owner_of: null, amount: null, contract_type: 'ERC1155' });
    await stage.cover(0, 0);
    expect(await shown()).toMatchObject({ owner_of: null, amount: '15', contract_type: 'ERC1155' });
  });

  test('of ERC-721 has the newest owner, whatever is missing before and between', async () => {
    await stage.seen(ERC721, 'erc721');
    await stage.cover(5, 100);
    // It went from the second to the third account in blocks that were not indexed.
    await stage.add(6, [give(1, 1, 2)]);
    await stage.add(9, [give(1, 3, 4)]);
    await stage.add(10, [give(1, 4, 3)]);
    await stage.add(11, [give(1, 3, 4)]);
    const answer = await stage.get(ERC721);
    expect(answer.result.map(({ owner_of }) => owner_of)).toEqual([account(4)]);
    expect(answer.indexed.complete).toBe(false);
  });
});

describe('pages', () => {
  const IDS = Array.from({ length: 23 }, (_, id) => id);

  test.each([1, 100])('of %i stay whole while blocks arrive and are taken back between them', async (limit) => {
    await stage.cover(0, 1);
    await stage.add(
      1,
      IDS.map((id) => mint(id, id % 3)),
    );
    const pages = await stage.pages(`${ERC721}?limit=${limit}`, async (page) => {
      if (page % 3 === 0) await stage.remove(100 + page - 1);
      await stage.add(100 + page, [give(page % 23, (page % 23) % 3, 9), mint(1_000 + page, 5)]);
    });
    const ids = idsOf(...pages);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => Number(id) < 1_000)).toEqual(byHash(IDS));
  });

  test.each([1, 2, 3, 7, 100])('of all of %i parts together give each id once', async (totalRanges) => {
    await stage.add(
      1,
      IDS.map((id) => mint(id, id % 3)),
    );
    const seen: unknown[] = [];
    for (let range = totalRanges; range >= 1; range--)
      seen.push(...idsOf(...(await stage.pages(`${ERC721}?limit=2&totalRanges=${totalRanges}&range=${range}`))));
    expect(seen).toEqual(byHash(IDS));
  });
});

describe('documents', () => {
  test('of twenty ids of a page that nobody asked about are left to the worker, in nobody’s name; those of spam are not', async () => {
    await stage.add(
      1,
      Array.from({ length: 30 }, (_, id) => mint(id, 1)),
    );
    await stage.get(ERC721);
    const queued = () =>
      stage.scratch.database.query(
        sql`SELECT FROM nft_token_metadata WHERE due_at <= now() AND requested_by IS NULL`,
      );
    expect(await queued()).toHaveLength(20);
    await stage.scratch.database.query(sql`TRUNCATE nft_token_metadata`);
    await storeToken(stage.scratch.database, eth.id, ERC721, { seen_as: 2, possible_spam: true });
    await stage.get(ERC721);
    expect(await queued()).toHaveLength(0);
  });
});
