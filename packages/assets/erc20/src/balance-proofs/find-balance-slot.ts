import type { Address } from '@chainstead/core';
import { type BalanceSlot, CANDIDATE_SLOTS, slotOfHolder } from './balance-slot.ts';
import type { StateProofs } from './state-proofs.ts';

export interface Witness {
  readonly holder: Address;
  readonly balance: bigint;
}

export interface FoundSlot extends BalanceSlot {
  readonly checkedBy: readonly Address[];
}

/** A single small balance proves nothing: contracts also store flags and counters per holder. */
const REPORTING_MIN = 1n << 16n;
/** An upstream may return a wrong balance, or a token may store one elsewhere. */
const LEADS_MAX = 2;

/**
 * The only slot that holds the `balanceOf` of two known holders and of three quarters of all. A
 * single one suffices if its balance is not small. @throws as StateProofs.read
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
      const matching = candidates.filter((_, index) => slots[index] === lead.balance);
      const confirmed: FoundSlot[] = [];
      for (const candidate of matching) {
        const checkedBy = await witnessesOf(proofs, { token, candidate, lead, witnesses }, signal);
        if (checkedBy !== null) confirmed.push({ ...candidate, checkedBy });
      }
      const [first, second] = confirmed;
      if (second !== undefined) return null;
      if (first !== undefined) return first;
    }
  return null;
}

async function witnessesOf(
  proofs: StateProofs,
  of: { token: Address; candidate: BalanceSlot; lead: Witness; witnesses: readonly Witness[] },
  signal: AbortSignal,
): Promise<readonly Address[] | null> {
  const { token, candidate, lead, witnesses } = of;
  const others = witnesses.filter(({ holder }) => holder !== lead.holder);
  if (others.length === 0) return lead.balance >= REPORTING_MIN ? [lead.holder] : null;
  const keys = others.map(({ holder }) => slotOfHolder(candidate, holder));
  const { slots } = await proofs.read(token, keys, signal);
  const agreeing = [lead, ...others.filter(({ balance }, index) => slots[index] === balance)];
  const differing = witnesses.length - agreeing.length;
  return agreeing.length >= 2 && differing * 3 <= agreeing.length ? agreeing.map(({ holder }) => holder) : null;
}
