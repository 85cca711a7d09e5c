/**
 * Counts of wallets against a recount of the written rows, while the engine's own commits add rows and blocks leave the
 * chain.
 */

import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, systemClock, waitingAtMost } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { addressOf, atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BESIDE, type Happening, type HappeningKind, openWritten } from '../testing/written-rows.ts';
import { createWalletCounter, type WalletCounter } from './wallet-counter.ts';

const registry = createChainRegistry({
  additional: [920, 921, 922].map((id) => ({ key: `counted-${id}`, id })),
});
const [ALICE, BOB, CAROL] = [addressOf(0xa11ce), addressOf(0xb0b), addressOf(0xca401)] as const;
const WALLETS = [ALICE, BOB, CAROL] as const;
const LAST_BLOCK = 12;

const happening: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constantFrom<HappeningKind>('account', 'internal', 'token', 'nft', 'approval'),
  block: fc.nat(LAST_BLOCK),
  index: fc.nat(2),
  log: fc.nat(4),
  from: fc.constantFrom(...WALLETS),
  to: fc.constantFrom(...WALLETS),
  items: fc.integer({ min: 1, max: 3 }),
});
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ added: fc.array(happening, { minLength: 1, maxLength: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ above: fc.nat(LAST_BLOCK) }) },
  { weight: 1, arbitrary: fc.record({ unfollowed: happening }) },
);

const scratch = scratchOfFile();

const countOf = (counter: WalletCounter, chain: Chain, wallet: Address) =>
  waitingAtMost(30_000, () => counter.count(chain, wallet));

test(
  'a wallet’s counts are those of its rows, whatever comes and goes while they are counted',
  async () => {
    let nextChain = 930_001;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        const id = nextChain++;
        const chain = createChainRegistry({ additional: [{ key: `counted-${id}`, id }] }).get(id);
        const written = await openWritten(scratch.database, chain);
        const counter = createWalletCounter({
          ...{
            database: scratch.database,
            projections: createSubjectProjections(scratch.database),
            clock: systemClock,
          },
          ...{ rowsPerRequest: 6, rowsPerRange: 3 },
        });
        for (const one of steps) {
          const change =
            'added' in one
              ? written.add(one.added)
              : 'above' in one
                ? written.cut(one.above)
                : written.addUnfollowed(one.unfollowed);
          // While a program without support for counts writes, a very busy wallet has none.
          const meanwhile = countOf(counter, chain, ALICE).catch((error: unknown) => {
            if (!('unfollowed' in one)) throw error;
          });
          await Promise.all([change, meanwhile]);
          for (const wallet of [...WALLETS, BESIDE])
            expect([wallet, await countOf(counter, chain, wallet)]).toEqual([wallet, written.expected(wallet)]);
        }
      }),
      { numRuns: atDepth(25) },
    );
  },
  atDepth(240_000),
);

test('of very much, only what is not counted yet is counted again', async () => {
  const chain = registry.get(921);
  const written = await openWritten(scratch.database, chain);
  const counter = createWalletCounter({
    ...{
      database: scratch.database,
      projections: createSubjectProjections(scratch.database),
      clock: systemClock,
    },
    ...{ rowsPerRequest: 10, rowsPerRange: 5 },
  });
  const transfers = (from: number, to: number): Happening[] =>
    Array.from({ length: to - from + 1 }, (_, at) => ({
      ...{ kind: 'token', block: from + at, index: 0, log: 0, from: ALICE, to: BOB, items: 1 },
    }));
  await written.add(transfers(1, 10));
  expect(await countOf(counter, chain, ALICE)).toMatchObject({ tokenTransfers: 10, involved: 10 });
  expect(await spans()).toEqual([]);
  await written.add(transfers(11, 23));
  expect(await countOf(counter, chain, ALICE)).toMatchObject({ tokenTransfers: 23, involved: 23 });
  expect(await spans()).toEqual([
    [0, 5, 5],
    [6, 10, 5],
    [11, 15, 5],
    [16, 20, 5],
  ]);
  // The spans provide this count, not the rows.
  await scratch.database.query(sql`UPDATE wallet_counts SET token_transfers = 6 WHERE first_block = 6`);
  expect((await countOf(counter, chain, ALICE)).tokenTransfers).toBe(24);
  await written.add([{ kind: 'nft', block: 7, index: 1, log: 3, from: BOB, to: ALICE, items: 2 }]);
  expect(await countOf(counter, chain, ALICE)).toMatchObject({
    tokenTransfers: 23,
    nftTransfers: 1,
    involved: 24,
  });
  expect(await spans()).toHaveLength(3);
  expect(await countOf(counter, chain, CAROL)).toMatchObject({ involved: 0 });

  async function spans() {
    const rows = await scratch.database.query<{ first: number; last: number; tokens: number }>(
      sql`SELECT first_block AS first, last_block AS last, token_transfers AS tokens FROM wallet_counts WHERE chain_id = 921 ORDER BY 1`,
    );
    return rows.map(({ first, last, tokens }) => [first, last, tokens]);
  }
});

test('is unavailable while nobody follows the rows of the chain', async () => {
  const chain = registry.get(922);
  const written = await openWritten(scratch.database, chain);
  await scratch.database.query(sql`DELETE FROM projections WHERE chain_id = 922`);
  const counter = createWalletCounter({
    ...{
      database: scratch.database,
      projections: createSubjectProjections(scratch.database),
      clock: systemClock,
    },
    ...{ rowsPerRequest: 1, rowsPerRange: 1 },
  });
  const some = [1, 2, 3].map((block): Happening => {
    return { kind: 'approval', block, index: 0, log: 0, from: ALICE, to: BOB, items: 1 };
  });
  await written.add(some);
  await expect(waitingAtMost(1_000, () => counter.count(chain, ALICE))).rejects.toThrow(
    'the activity of the wallet on counted-922 is being counted',
  );
});
