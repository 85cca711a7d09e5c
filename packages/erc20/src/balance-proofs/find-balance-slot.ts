import type { Address } from '@chainstead/core';
import { type BalanceSlot, CANDIDATE_SLOTS, slotOfHolder } from './balance-slot.ts';
import type { StateProofs } from './state-proofs.ts';

/** A holder and what `balanceOf` says of it, which is not 0. */
export interface Witness {
  readonly holder: Address;
  readonly balance: bigint;
}

/** A place that holds the balances of the witnesses. */
export interface FoundSlot extends BalanceSlot {
  readonly checkedBy: readonly Address[];
}

/** Flags and counters that a contract keeps of its holders are small numbers: alone, so small a balance tells nothing. */
const TELLING_MIN = 1n << 16n;
/** One upstream may lie of one holder, or a token keep the balance of one apart: then the next one leads. */
const LEADS_MAX = 2;

/**
 * Looks for the mapping that holds a token's balances by what is known of some holders: the only place among the candidates where at least two of
 * them, three quarters of all, have what `balanceOf` says; or the only one, where but one is known and its balance is no small number.
 * @returns null where there is none, or several
 * @throws as StateProofs.read
 */
export async function findBalanceSlot(
  proofs: StateProofs,
  token: Address,
  witnesses: readonly Witness[],
  signal: AbortSignal,
): Promise<FoundSlot | null> {
  for (const lead of witnesses.slice(0, LEADS_MAX))
    for (const candidates of CANDIDATE_SLOTS) {
      const keys = candidates.map((candidate) => slotOfHolder(candidate, lead.holder));
      const { slots } = await proofs.read(token, keys, signal);
      const matching = candidates.filter((_, place) => slots[place] === lead.balance);
      const found: FoundSlot[] = [];
      for (const candidate of matching) {
        const checkedBy = await witnessesOf(proofs, { token, candidate, lead, witnesses }, signal);
        if (checkedBy !== null) found.push({ ...candidate, checkedBy });
      }
      const [first, second] = found;
      if (second !== undefined) return null;
      if (first !== undefined) return first;
    }
  return null;
}

/** Whose balances the place holds; null where they are too few to believe it. */
async function witnessesOf(
  proofs: StateProofs,
  asked: {
    readonly token: Address;
    readonly candidate: BalanceSlot;
    readonly lead: Witness;
    readonly witnesses: readonly Witness[];
  },
  signal: AbortSignal,
): Promise<readonly Address[] | null> {
  const { token, candidate, lead, witnesses } = asked;
  const others = witnesses.filter(({ holder }) => holder !== lead.holder);
  if (others.length === 0) return lead.balance >= TELLING_MIN ? [lead.holder] : null;
  const keys = others.map(({ holder }) => slotOfHolder(candidate, holder));
  const { slots } = await proofs.read(token, keys, signal);
  const agreeing = [lead, ...others.filter(({ balance }, place) => slots[place] === balance)];
  const differing = witnesses.length - agreeing.length;
  return agreeing.length >= 2 && differing * 3 <= agreeing.length ? agreeing.map(({ holder }) => holder) : null;
}
