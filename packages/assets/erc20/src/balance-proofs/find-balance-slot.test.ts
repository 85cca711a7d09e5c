import type { Hash } from '@chainstead/core';
import { addressOf, hashOf } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import { type BalanceSlot, slotOfHolder } from './balance-slot.ts';
import { findBalanceSlot, type Witness } from './find-balance-slot.ts';
import type { StateProofs } from './state-proofs.ts';

const TOKEN = addressOf(0xc0);
const { signal } = new AbortController();
const holder = (number: number, balance: bigint): Witness => ({ holder: addressOf(number), balance });
const HOLDERS = [holder(1, 10n ** 18n), holder(2, 7_000_000n), holder(3, 900_000n), holder(4, 5n)];

/** Storage whose mappings hold the given balances. */
function storageOf(
  ...mappings: readonly (readonly [BalanceSlot, readonly Witness[]])[]
): StateProofs & { reads: number } {
  const values = new Map<Hash, bigint>();
  for (const [place, held] of mappings)
    for (const { holder: owner, balance } of held) values.set(slotOfHolder(place, owner), balance);
  const account = { exists: true, nonce: 1n, balance: 0n, storageHash: hashOf(1, 1), codeHash: hashOf(1, 2) };
  return {
    refused: [],
    reads: 0,
    async read(_, slots) {
      this.reads++;
      return { ...account, slots: slots.map((slot) => values.get(slot) ?? 0n) };
    },
  };
}

describe('looking for the mapping of balances', () => {
  it.each<BalanceSlot>([
    { layout: 'solidity', slot: 0n },
    { layout: 'solidity', slot: 101n },
    { layout: 'solidity', slot: 255n },
    { layout: 'vyper', slot: 1n },
    { layout: 'vyper', slot: 60n },
    { layout: 'solady', slot: 0x87a211a2n },
  ])('finds $layout $slot', async (place) => {
    const found = await findBalanceSlot(storageOf([place, HOLDERS]), TOKEN, HOLDERS, signal);
    expect(found).toEqual({ ...place, checkedBy: HOLDERS.map(({ holder: owner }) => owner) });
  });

  it('finds a usual place by two calls', async () => {
    const proofs = storageOf([{ layout: 'solidity', slot: 9n }, HOLDERS]);
    await findBalanceSlot(proofs, TOKEN, HOLDERS, signal);
    expect(proofs.reads).toBe(2);
  });

  it('finds it though what is said of one of four is a lie, the first or another', async () => {
    const place: BalanceSlot = { layout: 'vyper', slot: 2n };
    for (const liedOf of HOLDERS.keys()) {
      const reported = HOLDERS.map((one, at) => (at === liedOf ? { ...one, balance: one.balance + 1n } : one));
      const found = await findBalanceSlot(storageOf([place, HOLDERS]), TOKEN, reported, signal);
      expect(found, `of ${liedOf}`).toMatchObject(place);
      expect(found?.checkedBy).toHaveLength(3);
    }
  });

  it('finds nothing where only some balances lie there', async () => {
    const place: BalanceSlot = { layout: 'solidity', slot: 1n };
    expect(await findBalanceSlot(storageOf([place, HOLDERS.slice(0, 2)]), TOKEN, HOLDERS, signal)).toBeNull();
    expect(
      await findBalanceSlot(storageOf([place, HOLDERS.slice(0, 1)]), TOKEN, HOLDERS.slice(0, 2), signal),
    ).toBeNull();
    expect(await findBalanceSlot(storageOf(), TOKEN, HOLDERS, signal)).toBeNull();
  });

  it('finds nothing where two mappings hold the same', async () => {
    const proofs = storageOf(
      [{ layout: 'solidity', slot: 1n }, HOLDERS],
      [{ layout: 'solidity', slot: 2n }, HOLDERS],
    );
    expect(await findBalanceSlot(proofs, TOKEN, HOLDERS, signal)).toBeNull();
  });

  it('takes the mapping that holds all balances, not one that holds the first of them too', async () => {
    const place: BalanceSlot = { layout: 'solidity', slot: 3n };
    const proofs = storageOf([{ layout: 'solidity', slot: 1n }, HOLDERS.slice(0, 1)], [place, HOLDERS]);
    expect(await findBalanceSlot(proofs, TOKEN, HOLDERS, signal)).toMatchObject(place);
  });

  it('believes two holders that agree', async () => {
    const place: BalanceSlot = { layout: 'solidity', slot: 1n };
    const two = HOLDERS.slice(0, 2);
    expect(await findBalanceSlot(storageOf([place, two]), TOKEN, two, signal)).toMatchObject(place);
  });

  it('believes one holder alone by a large balance only', async () => {
    const place: BalanceSlot = { layout: 'solidity', slot: 0n };
    const proofs = storageOf([place, HOLDERS]);
    expect(await findBalanceSlot(proofs, TOKEN, [holder(1, 10n ** 18n)], signal)).toMatchObject(place);
    expect(await findBalanceSlot(proofs, TOKEN, [holder(4, 5n)], signal)).toBeNull();
  });
});
