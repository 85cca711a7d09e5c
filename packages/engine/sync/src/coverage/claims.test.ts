import { parseChainId } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, it } from 'vitest';
import { consumeClaim, createClaimOwner, listFillingChains, listHeldRanges } from './claims.ts';

const CHAIN = parseChainId(1);
const scratch = scratchOfFile();

// Invariant: SYNC-CLAIMS-DISJOINT
it('gives a range to one owner only, and again once it is released', async () => {
  const [first, second] = [await createClaimOwner(scratch.database), await createClaimOwner(scratch.database)];
  expect(await first.claim(CHAIN, { from: 1, to: 10 }, 'backfill')).toBe(true);
  expect(await second.claim(CHAIN, { from: 10, to: 20 }, 'prover')).toBe(false);
  expect(await second.claim(CHAIN, { from: 11, to: 20 }, 'prover')).toBe(true);
  await first.release(CHAIN, { from: 1, to: 10 });
  expect(await second.claim(CHAIN, { from: 1, to: 10 }, 'backfill')).toBe(true);
  await first.close();
  await second.close();
});

it('does not confuse the same blocks of two chains', async () => {
  const owner = await createClaimOwner(scratch.database);
  expect(await owner.claim(parseChainId(5), { from: 1, to: 10 }, 'backfill')).toBe(true);
  expect(await owner.claim(parseChainId(6), { from: 1, to: 10 }, 'backfill')).toBe(true);
  await owner.close();
});

it('takes over what a dead owner left behind, and only that', async () => {
  const dead = 4_242_424_242n;
  await scratch.database.query(
    sql`INSERT INTO sync_claims (chain_id, first_block, last_block, owner, purpose) VALUES (1, 100, 200, ${dead.toString()}, 'backfill')`,
  );
  const owner = await createClaimOwner(scratch.database);
  expect(await owner.claim(CHAIN, { from: 150, to: 160 }, 'reindex')).toBe(true);
  await owner.close();
  expect(await scratch.database.query(sql`SELECT 1 FROM sync_claims`)).toEqual([]);
});

// Invariant: SYNC-CLAIMS-DISJOINT
it('ends a claim in the transaction that writes the range, and fails the second time', async () => {
  const owner = await createClaimOwner(scratch.database);
  const range = { from: 7, to: 9 };
  await owner.claim(CHAIN, range, 'backfill');
  const consume = () =>
    scratch.database.transaction((transaction) =>
      consumeClaim(transaction, owner, { id: CHAIN, key: 'eth' }, range),
    );
  await consume();
  await expect(consume()).rejects.toMatchObject({ code: 'RANGE_CLAIMED' });
  await owner.close();
});

it('lists what living owners hold, and the chains that somebody fills who is not a helper himself', async () => {
  const [filled, helped, dead] = [parseChainId(71), parseChainId(72), parseChainId(73)];
  const owner = await createClaimOwner(scratch.database);
  await owner.claim(filled, { from: 1, to: 10 }, 'backfill');
  await owner.claim(filled, { from: 30, to: 40 }, 'prover');
  await owner.claim(helped, { from: 1, to: 10 }, 'help');
  await scratch.database.query(
    sql`INSERT INTO sync_claims (chain_id, first_block, last_block, owner, purpose) VALUES (${dead}, 1, 9, 4242, 'backfill'), (${filled}, 50, 60, 4242, 'help')`,
  );
  expect((await listHeldRanges(scratch.database, filled)).toSorted((a, b) => a.from - b.from)).toEqual([
    { from: 1, to: 10 },
    { from: 30, to: 40 },
  ]);
  expect(await listHeldRanges(scratch.database, dead)).toEqual([]);
  expect(await listFillingChains(scratch.database, [filled, helped, dead])).toEqual(new Set([filled]));
  await owner.close();
  expect(await listFillingChains(scratch.database, [filled, helped, dead])).toEqual(new Set());
  await scratch.database.query(sql`DELETE FROM sync_claims`);
});
