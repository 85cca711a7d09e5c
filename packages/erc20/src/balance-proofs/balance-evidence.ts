import type { Address } from '@chainstead/core';
import type { SlotLayout } from './balance-slot.ts';
import { slotOfHolder } from './balance-slot.ts';
import type { BalanceProverOptions } from './prove-balance.ts';
import { createSlotSearch } from './slot-search.ts';
import { createStateProofs } from './state-proofs.ts';
import { UnprovableError } from './unprovable-error.ts';

/** A balance of an account, as rows have it. */
export interface BalanceToShow {
  readonly account: Address;
  readonly token: Address;
  /** Base units at the end of the block. */
  readonly balance: bigint;
}

/** The place of a balance in the storage of its token, with the response of `eth_getProof`. */
export interface BalanceEvidence {
  readonly layout: SlotLayout;
  readonly slot: bigint;
  readonly proof: unknown;
}

/**
 * Returns the storage proof of a balance at a block, for a reader who has the hash of the block alone. Null if the storage of the token has no
 * known place with that balance, or no node proves it.
 */
export async function readBalanceEvidence(
  options: BalanceProverOptions,
  { account, token, balance }: BalanceToShow,
  signal: AbortSignal,
): Promise<BalanceEvidence | null> {
  try {
    const proofs = createStateProofs(options);
    const search = createSlotSearch({ ...options, proofs });
    const known = await search.known({ token, wallet: account, shown: balance }, signal);
    if (known === null) return null;
    const { layout, slot } = known;
    const found = await proofs.readWithProof(token, [slotOfHolder(known, account)], signal);
    return found.account.slots[0] === balance ? { layout, slot, proof: found.proof } : null;
  } catch (error) {
    if (!(error instanceof UnprovableError)) throw error;
    return null;
  }
}
