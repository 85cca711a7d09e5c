import { addressBytes, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { addressesOf, type CollectionsStage, openCollectionsStage } from './testing/collections-stage.ts';
import { contractOf } from './testing/seeded-holdings.ts';

const [A, B, C] = [contractOf(0xaa), contractOf(0xbb), contractOf(0xcc)];

const stage = stageOfFile(openCollectionsStage);
beforeEach(() => stage.empty());

const get: CollectionsStage['get'] = (...given) => stage.get(...given);
const hold: CollectionsStage['hold'] = (...contracts) => stage.hold(...contracts);

describe('pages', () => {
  test('follow each other by contract without gaps, whatever changes before or behind', async () => {
    await hold(...Array.from({ length: 7 }, (_, index) => contractOf(10 + index * 10)));
    const first = await get('?limit=3&token_counts=true');
    expect([addressesOf(first), first.page, first.page_size]).toEqual([
      [contractOf(10), contractOf(20), contractOf(30)],
      1,
      3,
    ]);
    await stage.scratch.database.query(
      sql`DELETE FROM nft_wallet_collections WHERE token_address = ANY (${[contractOf(20), contractOf(50)].map(addressBytes)}::bytea[])`,
    );
    await hold(contractOf(5), contractOf(35));
    const second = await get(`?cursor=${first.cursor}`);
    expect([addressesOf(second), second.page, second.page_size]).toEqual([
      [contractOf(35), contractOf(40), contractOf(60)],
      2,
      3,
    ]);
    expect(second.result[0]).toHaveProperty('count');
    const third = await get(`?cursor=${second.cursor}&limit=3`);
    expect([addressesOf(third), third.cursor, third.page_size]).toEqual([[contractOf(70)], null, 3]);
  });
});

describe('bad input', () => {
  test('a cursor goes with its own query only', async () => {
    await hold(A, B);
    const { cursor } = await get('?limit=1');
    for (const query of [
      `cursor=${cursor}&token_counts=true`,
      `cursor=${cursor}&exclude_spam=true`,
      `cursor=${cursor}&chain=base`,
    ]) {
      const answer = await stage.request(`?${query}`);
      expect(answer.status).toBe(400);
    }
    expect((await stage.request(`?cursor=${cursor}`, C)).status).toBe(400);
    expect((await stage.request(`?cursor=${cursor}x`)).status).toBe(400);
    expect(addressesOf(await get(`?cursor=${cursor}&chain=eth&exclude_spam=false`))).toEqual([B]);
  });
});
