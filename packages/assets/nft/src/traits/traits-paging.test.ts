import { createHash } from 'node:crypto';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { account, contract } from '../transfers/testing/example-moves.ts';
import { type Answer, openTraitsStage } from './testing/traits-stage.ts';

const CATS = contract(0x9000);
const IDS = Array.from({ length: 24 }, (_, index) => index + 1);
const attributesOf = (id: number): unknown[] => [
  { trait_type: 'Two', value: id % 2 },
  { trait_type: 'Three', value: `${id % 3}` },
  { trait_type: 'Big', value: id > 12 },
];

const stage = stageOfFile(openTraitsStage);
beforeAll(async () => {
  await stage.owners.cover(0, 100);
  await stage.mint(CATS, IDS);
  for (const id of IDS) await stage.document(CATS, id, attributesOf(id));
  await stage.ready(`${CATS}/traits`);
});

async function pages(
  path: string,
  body?: unknown,
  between: (page: number) => Promise<void> = async () => {},
): Promise<Answer['body']['result']> {
  const rows: Answer['body']['result'][number][] = [];
  const [address = ''] = path.split('?');
  for (let next: string | null = path, page = 1; next !== null; page++) {
    const answer: Answer = await stage.ask(next, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    rows.push(...answer.body.result);
    next = answer.body.cursor === null ? null : `${address}?cursor=${answer.body.cursor}`;
    if (next !== null) await between(page);
  }
  return rows;
}

const hashOf = (id: unknown): string => createHash('md5').update(`${CATS}${id}`).digest('hex');
const byHash = (ids: readonly number[]): string[] =>
  ids.toSorted((a, b) => (hashOf(a) < hashOf(b) ? 1 : -1)).map(String);
const idsOf = (rows: Answer['body']['result']): unknown[] => rows.map(({ token_id: id }) => id);

const ASCENDING = [
  ['Three', '0', 8],
  ['Three', '1', 8],
  ['Three', '2', 8],
  ['Big', 'false', 12],
  ['Big', 'true', 12],
  ['Two', '0', 12],
  ['Two', '1', 12],
];
const shown = (rows: Answer['body']['result']): unknown =>
  rows.map((row) => [row.trait_type, row.trait_value, row.count]);

describe('pages of traits', () => {
  test.each([1, 2, 7, 100])(
    'of %i have each once, by count, then type and value, from either end',
    async (limit) => {
      expect(shown(await pages(`${CATS}/traits/paginate?order=ASC&limit=${limit}`))).toEqual(ASCENDING);
      expect(shown(await pages(`${CATS}/traits/paginate?limit=${limit}`))).toEqual(ASCENDING.toReversed());
      expect(shown(await pages(`${CATS}/traits/paginate?order=desc&limit=${limit}`))).toEqual(
        ASCENDING.toReversed(),
      );
    },
  );
});

test('traits by type are by type, the most frequent values first', async () => {
  const { body } = await stage.ask(`${CATS}/traits`);
  expect(
    body.traits.map(({ trait_type: type, values }) => [type, values.map(({ trait_value: value }) => value)]),
  ).toEqual([
    ['Big', ['true', 'false']],
    ['Three', ['2', '1', '0']],
    ['Two', ['1', '0']],
  ]);
});

describe('NFTs by traits', () => {
  const path = `${CATS}/nfts-by-traits`;
  const matching = (matches: (id: number) => boolean): string[] => byHash(IDS.filter(matches));

  test.each([
    ['one', { Two: '1' }, (id: number) => id % 2 === 1],
    ['a number by its text', { Two: 1 }, (id: number) => id % 2 === 1],
    ['a boolean by its text', { Big: true }, (id: number) => id > 12],
    ['two', { Two: '0', Three: '0' }, (id: number) => id % 6 === 0],
    ['all', { Two: '0', Three: '0', Big: 'true' }, (id: number) => id % 6 === 0 && id > 12],
    ['one that nobody has', { Two: '2' }, () => false],
    ['one of which nobody has one', { Two: '1', Tail: 'long' }, () => false],
    ['letter case of the type', { two: '1' }, () => false],
    ['letter case of the value', { Big: 'True' }, () => false],
    ['a space', { Two: '1 ' }, () => false],
  ])('have all of them: %s', async (_what, traits, matches) => {
    for (const limit of [1, 5, 100])
      expect(idsOf(await pages(`${path}?limit=${limit}`, { traits }))).toEqual(matching(matches));
  });

  test('are shown by format', async () => {
    const { body } = await stage.ask(`${path}?format=hex&limit=1`, { traits: { Big: true } });
    expect(body.result[0]?.token_id).toBe(`0x${Number(matching((id) => id > 12)[0]).toString(16)}`);
  });

  test('are those that still exist, with who has them now', async () => {
    const odd = matching((id) => id % 2 === 1).map(Number);
    const [first = 0, second = 0, third = 0] = odd;
    const burn = (id: number, to: Address) => ({
      token: CATS,
      id: BigInt(id),
      from: account(id % 5),
      to,
      amount: 1n,
    });
    const rows = await pages(`${path}?limit=1`, { traits: { Two: '1' } }, async (page) => {
      if (page !== 1) return;
      // The second is burned and the third sold between the first two pages; one already shown is burned too.
      await stage.owners.add(50, [
        burn(first, ZERO_ADDRESS),
        burn(second, ZERO_ADDRESS),
        burn(third, account(9)),
      ]);
    });
    expect(idsOf(rows)).toEqual(odd.filter((id) => id !== second).map(String));
    expect(rows[1]).toMatchObject({ token_id: String(third), owner_of: account(9), block_number: '50' });
    // A reorg reverts that.
    await stage.owners.remove(50);
    expect(idsOf(await pages(`${path}?limit=1`, { traits: { Two: '1' } }))).toEqual(odd.map(String));
  });
});
