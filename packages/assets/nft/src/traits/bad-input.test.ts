import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { contract } from '../transfers/testing/example-moves.ts';
import { openTraitsStage } from './testing/traits-stage.ts';

const CATS = contract(0xa000);
const BODY = { traits: { Color: 'red' } };
const stage = stageOfFile(openTraitsStage);
beforeAll(async () => {
  await stage.owners.cover(0, 100);
  await stage.mint(CATS, [1, 2], 1);
  await stage.document(CATS, 1, [{ trait_type: 'Color', value: 'red' }]);
  await stage.document(CATS, 2, [
    { trait_type: 'Color', value: 'red' },
    { trait_type: 'Size', value: 'small' },
  ]);
  await stage.ready(`${CATS}/traits`);
});

test('a cursor of other traits is refused', async () => {
  const { cursor } = (await stage.ask(`${CATS}/nfts-by-traits?limit=1`, BODY)).body;
  const next = (traits: object) => stage.ask(`${CATS}/nfts-by-traits?cursor=${cursor}`, { traits });
  expect((await next({ Color: 'blue' })).status).toBe(400);
  expect((await next(BODY.traits)).body.result).toHaveLength(1);
});

test('NFTs are found by 25 traits at most, whatever else the body has', async () => {
  const many = Array.from({ length: 26 }, (_, index) => [`t${index}`, '1']);
  const post = (traits: object) => stage.ask(`${CATS}/nfts-by-traits`, { traits, other: 1 });
  expect((await post(Object.fromEntries(many))).status).toBe(400);
  expect((await post(Object.fromEntries(many.slice(1)))).body.result).toEqual([]);
  expect((await post(BODY.traits)).body.result).toHaveLength(2);
  // Parsing the body has changed such a number.
  expect((await post({ Color: 2 ** 53 })).status).toBe(400);
  expect((await post({ Color: String(2n ** 53n + 1n), Size: 1.5 })).body.result).toEqual([]);
});
