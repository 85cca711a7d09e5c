import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { contract } from '../transfers/testing/example-moves.ts';
import { openTraitsStage } from './testing/traits-stage.ts';

const [CATS, DOGS] = [contract(0xa000), contract(0xa001)];
const BODY = { traits: { Color: 'red' } };
const stage = stageOfFile(openTraitsStage);
beforeAll(async () => {
  await stage.owners.cover(0, 100);
  for (const address of [CATS, DOGS]) {
    await stage.mint(address, [1, 2], address === CATS ? 1 : 2);
    await stage.document(address, 1, [{ trait_type: 'Color', value: 'red' }]);
    await stage.document(address, 2, [
      { trait_type: 'Color', value: 'red' },
      { trait_type: 'Size', value: 'small' },
    ]);
    await stage.ready(`${address}/traits`);
  }
});

describe('lists', () => {
  test('take a limit above the maximum for the maximum', async () => {
    expect((await stage.ask(`${CATS}/traits/paginate?limit=5000`)).body).toMatchObject({ page_size: 100 });
    expect((await stage.ask(`${CATS}/nfts-by-traits?limit=5000`, BODY)).body).toMatchObject({ page_size: 100 });
  });

  test('refuse cursors of another query', async () => {
    const { cursor } = (await stage.ask(`${CATS}/traits/paginate?limit=1`)).body;
    const byTraits = (await stage.ask(`${CATS}/nfts-by-traits?limit=1`, BODY)).body.cursor;
    expect([cursor, byTraits]).toEqual([expect.any(String), expect.any(String)]);
    for (const [path, body] of [
      [`${DOGS}/traits/paginate?cursor=${cursor}`, undefined],
      [`${CATS}/traits/paginate?cursor=${cursor}&order=ASC`, undefined],
      [`${CATS}/traits/paginate?cursor=${byTraits}`, undefined],
      [`${CATS}/traits/paginate?cursor=${cursor}x`, undefined],
      [`${CATS}/nfts-by-traits?cursor=${cursor}`, BODY],
      [`${DOGS}/nfts-by-traits?cursor=${byTraits}`, BODY],
      [`${CATS}/nfts-by-traits?cursor=${byTraits}&format=hex`, BODY],
      [`${CATS}/nfts-by-traits?cursor=${byTraits}`, { traits: { Color: 'blue' } }],
    ] as const)
      expect((await stage.ask(path, body)).status, path).toBe(400);
    expect((await stage.ask(`${CATS}/nfts-by-traits?cursor=${byTraits}`, BODY)).body.result).toHaveLength(1);
  });
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
