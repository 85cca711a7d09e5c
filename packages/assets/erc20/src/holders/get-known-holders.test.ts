/** The coverage in responses about a token's holders. For the wrapped native token it follows from two datasets. */

import type { Address } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import type { CurrentCoverage } from '@chainstead/pages';
import { addressOf, coverBlocks, exampleChain, storeToken } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { getKnownHolders } from './get-known-holders.ts';
import { seedHolders } from './testing/seeded-holders.ts';
import { getOwnersPage } from './token-owners-statement.ts';

const COIN = addressOf(0xc014);
const GOLD = addressOf(0x601d);

type Blocks = readonly [first: number, last: number];

/** Indexed ranges of the chain, and of the wrapped native token alone. */
interface Ranges {
  readonly transfers?: readonly Blocks[];
  readonly moves?: readonly Blocks[];
  readonly movesOfCoin?: readonly Blocks[];
}

const kept = { unreported: new Set<string>() };
const scratch = scratchOfFile();
let nextChain = 1_520_001;

async function reportedOf(token: Address, { transfers = [], moves = [], movesOfCoin = [] }: Ranges) {
  const { database } = scratch;
  const chain = exampleChain({ id: nextChain++, wrappedNative: COIN });
  await seedHolders(database, chain, token, 1);
  for (const [dataset, ranges] of [
    ['erc20-transfers', transfers],
    ['wrapped-coin-moves', moves],
  ] as const)
    for (const [first, last] of ranges) await coverBlocks(database, chain.id, dataset, first, last);
  for (const [first, last] of movesOfCoin)
    await database.query(
      sql`INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block)
       VALUES (${chain.id}, 'contract', ${addressBytes(COIN)}, 'wrapped-coin-moves', ${first}, ${last})`,
    );
  const page = await getOwnersPage(database, kept, chain, {
    token,
    liveMaxAgeMs: 60_000,
    freshFrom: null,
    wanted: { order: 'DESC', limit: 10, after: null },
  });
  const summary = await getKnownHolders(database, chain, token);
  return { summary: shown(summary), list: shown(page.coverage), class: page.class };
}

function shown({ indexed, isCovered }: CurrentCoverage): string {
  const { fromBlock, toBlock, complete } = indexed;
  expect(isCovered).toBe(complete);
  return `${fromBlock} to ${toBlock}${complete ? ', complete' : ''}`;
}

const FULL: Blocks = [0, 100];

test.each<readonly [name: string, ranges: Ranges, expected: string, isCounted: boolean]>([
  ['both of all blocks', { transfers: [FULL], moves: [FULL] }, '0 to 100, complete', true],
  ['deposits from a later block on', { transfers: [FULL], moves: [[40, 100]] }, '40 to 100', true],
  ['transfers from a later block on', { transfers: [[60, 100]], moves: [FULL] }, '60 to 100', true],
  [
    'deposits with a gap',
    {
      transfers: [FULL],
      moves: [
        [0, 29],
        [40, 100],
      ],
    },
    '40 to 100',
    true,
  ],
  [
    'the gap closed for the coin alone',
    {
      transfers: [FULL],
      moves: [
        [0, 29],
        [40, 100],
      ],
      movesOfCoin: [[20, 50]],
    },
    '0 to 100, complete',
    true,
  ],
  ['deposits that end before the newest block', { transfers: [FULL], moves: [[0, 90]] }, 'null to null', false],
  ['no deposits', { transfers: [FULL] }, 'null to null', false],
  ['nothing', {}, 'null to null', false],
])(
  'of the wrapped coin, where there are %s: the blocks of which both are known',
  async (_name, ranges, expected, isCounted) => {
    expect(await reportedOf(COIN, ranges)).toEqual({
      summary: expected,
      list: expected,
      // Otherwise its contract is read each time.
      class: isCounted ? 'new' : 'live',
    });
  },
);

test('of a token whose transfers are being counted anew no balance is told that they add up to', async () => {
  const { database } = scratch;
  const chain = exampleChain({ id: nextChain++ });
  await seedHolders(database, chain, GOLD, 30);
  await coverBlocks(database, chain.id, 'erc20-transfers', 0, 100);
  await storeToken(database, chain.id, GOLD, { verified: true });
  const wanted = { order: 'DESC', limit: 10, after: null } as const;
  const balances = async () => {
    const query = { token: GOLD, liveMaxAgeMs: 60_000, freshFrom: null, wanted };
    const { rows, coverage } = await getOwnersPage(database, kept, chain, query);
    return { reported: rows.map(({ reported }) => reported), complete: coverage.indexed.complete };
  };
  // Two of them come from the contract.
  const reported = Array.from({ length: 11 }, (_, place) => String(30 - place));
  expect(await balances()).toEqual({ reported, complete: true });
  await database.query(sql`UPDATE subject_projections SET built_to = 3 WHERE chain_id = ${chain.id}`);
  expect(await balances()).toEqual({ reported: reported.map(() => null), complete: false });
  await database.query(
    sql`INSERT INTO erc20_token_classes (token, chain_id, class, since_block) VALUES (${addressBytes(GOLD)}, ${chain.id}, 'live', 1)`,
  );
  const said = reported.map((balance) => (Number(balance) % 10 === 0 ? balance : null));
  expect(await balances()).toEqual({ reported: said, complete: false });
});

test('a page shows contract reads of a token that adds up no more, also in a process that did not expect it', async () => {
  const { database } = scratch;
  const chain = exampleChain({ id: nextChain++ });
  await seedHolders(database, chain, GOLD, 30);
  await coverBlocks(database, chain.id, 'erc20-transfers', 0, 100);
  const reported = async (own = kept) => {
    const wanted = { order: 'DESC', limit: 10, after: null } as const;
    const { rows } = await getOwnersPage(database, own, chain, {
      token: GOLD,
      liveMaxAgeMs: 60_000,
      freshFrom: null,
      wanted,
    });
    return rows.map((row) => row.reported);
  };
  const classify = (known: string) =>
    database.query(
      sql`INSERT INTO erc20_token_classes (token, chain_id, class, since_block) VALUES (${addressBytes(GOLD)}, ${chain.id}, ${known}, 1)
       ON CONFLICT (token, chain_id) DO UPDATE SET class = excluded.class`,
    );
  const all = Array.from({ length: 11 }, (_, place) => String(30 - place));
  const said = all.map((balance) => (Number(balance) % 10 === 0 ? balance : null));
  for (const [known, expected] of [
    ['sum', all],
    ['live', said],
    ['live', said],
    ['sum', all],
    ['live', said],
  ] as const) {
    await classify(known);
    expect(await reported()).toEqual(expected);
    expect(await reported({ ...kept, unreported: new Set() })).toEqual(expected);
  }
});

test('of another token the blocks of its transfers', async () => {
  const whole = { summary: '0 to 100, complete', list: '0 to 100, complete', class: 'new' };
  expect(await reportedOf(GOLD, { transfers: [FULL] })).toEqual(whole);
  expect(await reportedOf(GOLD, { transfers: [FULL], moves: [[40, 90]] })).toEqual(whole);
});
