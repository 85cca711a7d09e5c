import { ZERO_ADDRESS } from '@chainstead/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { account, ERC721, ERC1155 } from '../transfers/testing/example-moves.ts';
import { type ListAnswer, type OwnersStage, openOwnersStage } from './testing/owners-stage.ts';

let stage: OwnersStage;
beforeAll(async () => {
  stage = await openOwnersStage();
  const mint = { token: ERC721, from: ZERO_ADDRESS, to: account(1), amount: 1n };
  await stage.add(1, [
    { ...mint, id: 1n },
    { ...mint, id: 2n },
  ]);
});
afterAll(() => stage.close());

test('an operation that is not served is no contract', async () => {
  expect((await stage.request('transfers')).status).toBe(501);
});

test.each([
  [ERC721, ERC1155],
  [`${ERC721}/owners`, `${ERC1155}/owners`],
  [`${ERC721}/owners`, `${ERC721}/1/owners`],
])('a cursor of %s goes with its own query only', async (path, other) => {
  const { cursor } = await stage.get<ListAnswer>(`${path}?limit=1`);
  expect(cursor).not.toBeNull();
  for (const changed of [
    `${other}?cursor=${cursor}`,
    `${path}?cursor=${cursor}x`,
    `${path}?cursor=${cursor}&format=hex`,
  ])
    expect((await stage.request(changed)).status, changed).toBe(400);
  expect((await stage.get(`${path}?cursor=${cursor}&limit=50`)).result).toHaveLength(1);
});
