/** Ids that had an owner before their first event: sums of transfers don't show their owners. */

import { ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { account, LAZY, type Move } from '../transfers/testing/example-moves.ts';
import { type ListAnswer, openOwnersStage } from './testing/owners-stage.ts';

const stage = stageOfFile(openOwnersStage);
beforeEach(() => stage.empty());

const CREATOR = 1;
const give = (id: number, from: number, to: number): Move => ({
  token: LAZY,
  id: BigInt(id),
  from: account(from),
  to: account(to),
  amount: 1n,
});
const burn = (id: number, from: number): Move => ({ ...give(id, from, from), to: ZERO_ADDRESS });

/** By block. Ids 1 and 2 end with their creator, who never transfers the second; 3 with another; 4 is burned. */
const BLOCKS = new Map<number, readonly Move[]>([
  [10, [give(1, CREATOR, 2), give(3, CREATOR, 2), give(4, CREATOR, CREATOR)]],
  [20, [give(1, 2, CREATOR), give(2, CREATOR, CREATOR)]],
  [30, [give(3, 2, 3), burn(4, CREATOR)]],
]);

const rowsOf = ({ result }: ListAnswer): string[] =>
  result.map((row) => `${row.token_id} ${row.owner_of} ${row.amount} @${row.block_number}`);
const line = (id: number, owner: number, block: number | null): string => `${id} ${account(owner)} 1 @${block}`;

/** All routes return the same for the collection. */
async function expectHeld(...rows: readonly string[]): Promise<void> {
  for (const list of [LAZY, `${LAZY}/owners`])
    expect(rowsOf(await stage.get(list)).toSorted(), list).toEqual(rows.toSorted());
  for (const id of [1, 2, 3, 4])
    expect(rowsOf(await stage.get(`${LAZY}/${id}/owners`)), `id ${id}`).toEqual(
      rows.filter((row) => row.startsWith(`${id} `)),
    );
  const owners = [...new Set(rows.map((row) => row.split(' ')[1]))].toSorted();
  expect(await stage.get(`${LAZY}/unique-owners`)).toMatchObject({ walletAddresses: owners });
  expect(await stage.get(`${LAZY}/stats`)).toMatchObject({
    total_tokens: String(rows.length),
    owners: { current: String(owners.length) },
  });
}

const HELD = [line(1, CREATOR, 20), line(2, CREATOR, null), line(3, 3, 30)];

describe('ids without a mint', () => {
  test.each([
    ['in their order', [10, 20, 30]],
    ['backwards', [30, 20, 10]],
    ['in any order', [20, 30, 10]],
  ])('are their newest receivers’ when blocks come %s', async (_order, arrivals) => {
    await stage.cover(0, 100);
    await stage.get(LAZY);
    for (const block of arrivals) await stage.add(block, BLOCKS.get(block) ?? []);
    await expectHeld(...HELD);
    expect((await stage.get(LAZY)).indexed.complete).toBe(true);
  });

  test('are so when they are counted from what is there already', async () => {
    await stage.cover(0, 100);
    for (const [block, moves] of BLOCKS) await stage.add(block, moves);
    expect(await stage.scratch.database.query(sql`SELECT FROM nft_collection_ids`)).toEqual([]);
    await expectHeld(...HELD);
  });

  test('go back with blocks that are taken back, to whom they had gone before', async () => {
    await stage.cover(0, 100);
    await stage.get(LAZY);
    for (const [block, moves] of BLOCKS) await stage.add(block, moves);
    await stage.remove(30);
    await expectHeld(line(1, CREATOR, 20), line(2, CREATOR, null), line(3, 2, 10), line(4, CREATOR, null));
    await stage.remove(20);
    await expectHeld(line(1, 2, 10), line(3, 2, 10), line(4, CREATOR, null));
    await stage.add(21, [give(1, 2, 2), give(3, 2, CREATOR)]);
    await expectHeld(line(1, 2, 10), line(3, CREATOR, 21), line(4, CREATOR, null));
    await stage.remove(10);
    await expectHeld(line(1, 2, null), line(3, CREATOR, 21));
  });

  test('are on pages of any length, those last of which nobody knows since when they are whose they are', async () => {
    await stage.cover(0, 100);
    for (const [block, moves] of BLOCKS) await stage.add(block, moves);
    for (const limit of [1, 2]) {
      const pages = await stage.pages(`${LAZY}/owners?limit=${limit}`);
      expect(pages.flatMap(rowsOf)).toEqual([line(3, 3, 30), line(1, CREATOR, 20), line(2, CREATOR, null)]);
    }
  });
});
