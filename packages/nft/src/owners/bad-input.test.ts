import { ZERO_ADDRESS } from '@chainstead/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

const LISTS = [ERC721, `${ERC721}/owners`, `${ERC721}/1/owners`];
const ALL = [...LISTS, `${ERC721}/unique-owners`, `${ERC721}/stats`];

async function refusal(path: string): Promise<unknown> {
  const answer = await stage.request(path);
  expect(answer.status, path).toBe(400);
  return answer.json();
}

const bodyOf = (parameter: string, given: unknown, allowed: string, message?: string) => ({
  message: message ?? `${parameter} must be ${allowed}, ${JSON.stringify(given)} was given`,
  details: { errors: [{ parameter, given, allowed }] },
});

describe('refused by name', () => {
  test.each([
    ['format=octal', 'format', 'octal', 'decimal or hex'],
    ['normalizeMetadata=yes', 'normalizeMetadata', 'yes', 'true or false'],
    ['media_items=1', 'media_items', '1', 'true or false'],
    ['limit=0', 'limit', '0', 'a whole number from 1 (above 100 means 100)'],
    ['limit=-1', 'limit', '-1', 'a whole number from 1 (above 100 means 100)'],
    ['limit=all', 'limit', 'all', 'a whole number from 1 (above 100 means 100)'],
    ['cursor=abc', 'cursor', 'abc', 'the cursor of an earlier page of this query, unchanged'],
  ])('is %s of a list', async (query, parameter, given, allowed) => {
    for (const path of LISTS) expect(await refusal(`${path}?${query}`)).toEqual(bodyOf(parameter, given, allowed));
  });

  test('is a limit of owners beyond their own bound', async () => {
    const allowed = 'a whole number from 1 (above 5000 means 5000)';
    expect(await refusal(`${ERC721}/unique-owners?limit=0`)).toEqual(bodyOf('limit', '0', allowed));
  });

  test.each(ALL)('is a chain that nobody knows: %s', async (path) => {
    const allowed = 'a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id';
    expect(await refusal(`${path}?chain=nowhere`)).toEqual(bodyOf('chain', 'nowhere', allowed));
  });

  test.each(['', '/owners', '/1/owners', '/unique-owners', '/stats'])(
    'is an address that is none: %s',
    async (rest) => {
      for (const given of ['0x123', `0x${'g'.repeat(40)}`])
        expect(await refusal(`${given}${rest}`)).toEqual(
          bodyOf('address', given, 'a hexadecimal address (0x and 40 digits)', '[C0005] Invalid address provided'),
        );
    },
  );

  test.each(['x', '-1', '0xgg', (2n ** 256n).toString()])('is the id %s', async (id) => {
    const allowed = 'a token id (a whole number from 0 to 2^256 − 1, decimal or hexadecimal with 0x)';
    expect(await refusal(`${ERC721}/${id}/owners`)).toEqual(
      bodyOf('token_id', id, allowed, '[C0005] Invalid TokenId provided'),
    );
  });
});

test('an operation that is not served is no contract', async () => {
  expect((await stage.request('transfers')).status).toBe(501);
});

describe('parts', () => {
  const COUNT = 'a whole number from 1 to 100';

  test.each([
    ['totalRanges=0&range=1', bodyOf('totalRanges', '0', COUNT)],
    ['totalRanges=101&range=1', bodyOf('totalRanges', '101', COUNT)],
    ['totalRanges=2&range=0', bodyOf('range', '0', COUNT)],
    ['totalRanges=2&range=x', bodyOf('range', 'x', COUNT)],
    ['totalRanges=2&range=3', bodyOf('range', 3, 'a whole number from 1 to totalRanges (2)')],
    [
      'totalRanges=2',
      {
        message: 'range is required: which of the 2 parts, from 1',
        details: { errors: [{ parameter: 'range', allowed: 'which of the 2 parts, from 1' }] },
      },
    ],
    [
      'range=1',
      {
        message: 'totalRanges is required: in how many parts range counts',
        details: { errors: [{ parameter: 'totalRanges', allowed: 'in how many parts range counts' }] },
      },
    ],
  ])('%s are refused', async (query, body) => {
    expect(await refusal(`${ERC721}?${query}`)).toEqual(body);
  });
});

describe('a cursor', () => {
  test('goes with its own query only', async () => {
    for (const [path, other] of [
      [ERC721, `${ERC1155}`],
      [`${ERC721}/owners`, `${ERC1155}/owners`],
      [`${ERC721}/owners`, `${ERC721}/1/owners`],
    ] as const) {
      const { cursor } = await stage.get<ListAnswer>(`${path}?limit=1`);
      expect(cursor).not.toBeNull();
      await refusal(`${other}?cursor=${cursor}`);
      await refusal(`${path}?cursor=${cursor}x`);
      await refusal(`${path}?cursor=${cursor}&format=hex`);
      expect((await stage.get(`${path}?cursor=${cursor}&limit=50`)).result).toHaveLength(1);
    }
  });
});
