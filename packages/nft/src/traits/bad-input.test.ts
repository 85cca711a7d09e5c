import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contract } from '../transfers/testing/example-moves.ts';
import { openTraitsStage, type TraitsStage } from './testing/traits-stage.ts';

const [CATS, DOGS] = [contract(0xa000), contract(0xa001)];
const BODY = { traits: { Color: 'red' } };
let stage: TraitsStage;
beforeAll(async () => {
  stage = await openTraitsStage();
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
afterAll(() => stage.close());

const ROUTES: readonly (readonly [path: string, body: unknown])[] = [
  ['traits', undefined],
  ['traits/paginate', undefined],
  ['nfts-by-traits', BODY],
];
const bodyOf = (parameter: string, given: unknown, allowed: string, message?: string) => ({
  message: message ?? `${parameter} must be ${allowed}, ${JSON.stringify(given)} was given`,
  details: { errors: [{ parameter, given, allowed }] },
});

describe('every route refuses', () => {
  test.each(ROUTES)('an address that is none: %s', async (path, body) => {
    for (const given of ['0x123', `0x${'g'.repeat(40)}`, 'cats'])
      expect(await stage.ask(`${given}/${path}`, body)).toEqual({
        status: 400,
        body: bodyOf('address', given, 'a hexadecimal address (0x and 40 digits)', '[C0005] Invalid address provided'),
      });
  });

  test.each(ROUTES)('a chain that nobody knows: %s', async (path, body) => {
    const allowed = 'a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id';
    expect(await stage.ask(`${CATS}/${path}?chain=nowhere`, body)).toEqual({
      status: 400,
      body: bodyOf('chain', 'nowhere', allowed),
    });
  });
});

describe('lists refuse', () => {
  const LIMIT = 'a whole number from 1 (above 100 means 100)';
  test.each([
    ['traits/paginate', 'limit=0', 'limit', '0', LIMIT],
    ['traits/paginate', 'limit=-5', 'limit', '-5', LIMIT],
    ['traits/paginate', 'limit=many', 'limit', 'many', LIMIT],
    ['traits/paginate', 'order=UP', 'order', 'UP', 'ASC or DESC'],
    ['traits/paginate', 'cursor=abc', 'cursor', 'abc', 'the cursor of an earlier page of this query, unchanged'],
    ['nfts-by-traits', 'limit=0', 'limit', '0', LIMIT],
    ['nfts-by-traits', 'format=octal', 'format', 'octal', 'decimal or hex'],
    ['nfts-by-traits', 'normalizeMetadata=1', 'normalizeMetadata', '1', 'true or false'],
    ['nfts-by-traits', 'media_items=yes', 'media_items', 'yes', 'true or false'],
    ['nfts-by-traits', 'cursor=abc', 'cursor', 'abc', 'the cursor of an earlier page of this query, unchanged'],
  ])('%s?%s', async (path, query, parameter, given, allowed) => {
    const body = path === 'nfts-by-traits' ? BODY : undefined;
    expect(await stage.ask(`${CATS}/${path}?${query}`, body)).toEqual({
      status: 400,
      body: bodyOf(parameter, given, allowed),
    });
  });

  test('a limit above the maximum means the maximum', async () => {
    expect((await stage.ask(`${CATS}/traits/paginate?limit=5000`)).body).toMatchObject({ page_size: 100 });
    expect((await stage.ask(`${CATS}/nfts-by-traits?limit=5000`, BODY)).body).toMatchObject({ page_size: 100 });
  });

  test('cursors of another query', async () => {
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

describe('the body of NFTs by traits', () => {
  const ALLOWED = 'an object that names 1 to 25 traits with their values, such as {"Background":"Blue"}';
  const many = Object.fromEntries(Array.from({ length: 26 }, (_, index) => [`t${index}`, '1']));
  const post = (body: unknown) => stage.ask(`${CATS}/nfts-by-traits`, body);

  test.each([
    ['no traits', {}, { message: 'traits is required' }],
    ['none of them', { traits: {} }, { message: `traits must be ${ALLOWED}, {} was given` }],
    ['too many', { traits: many }, { message: expect.stringContaining(`traits must be ${ALLOWED}, `) }],
    ['a list', { traits: ['red'] }, { message: `traits must be ${ALLOWED}, ["red"] was given` }],
    ['text', { traits: 'red' }, { message: `traits must be ${ALLOWED}, "red" was given` }],
    ['nothing', { traits: null }, { message: `traits must be ${ALLOWED}, null was given` }],
    [
      'a value of another kind',
      { traits: { Color: ['red'] } },
      { message: 'traits.Color must be text, a number or a boolean, ["red"] was given' },
    ],
    [
      'no value',
      { traits: { Color: null, Size: 'small' } },
      { message: 'traits.Color must be text, a number or a boolean, null was given' },
    ],
  ])('is refused with %s', async (_what, body, { message }) => {
    const answer = await post(body);
    expect([answer.status, answer.body]).toMatchObject([400, { message }]);
  });

  test('is refused when it is none', async () => {
    expect((await post('{')).status).toBe(400);
    expect((await post('[]')).status).toBe(400);
  });

  test('may have 25 traits, and members that nobody knows', async () => {
    const traits = Object.fromEntries(Object.entries(many).slice(0, 25));
    expect((await post({ traits })).body.result).toEqual([]);
    expect((await post({ ...BODY, other: 1 })).body.result).toHaveLength(2);
  });
});
