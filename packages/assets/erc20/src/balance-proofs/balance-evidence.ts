import type { Address } from '@chainstead/core';
import { type SlotLayout, slotOfHolder } from './balance-slot.ts';
import type { BalanceProverOptions } from './prove-balance.ts';
import { createSlotSearch } from './slot-search.ts';
import { createStateProofs, UnprovableError } from './state-proofs.ts';

export interface BalanceToShow {
  readonly account: Address;
  readonly token: Address;
  /** Base units at the end of the block. */
  readonly balance: bigint;
}

/** `proof`: the response of `eth_getProof`. */
export interface BalanceEvidence {
  readonly layout: SlotLayout;
  readonly slot: bigint;
  readonly proof: unknown;
}

/** Null: no known slot has that balance, or no node proves it. */
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
    const read = await proofs.readWithProof(token, [slotOfHolder(known, account)], signal);
    return read.account.slots[0] === balance ? { layout, slot, proof: read.proof } : null;
  } catch (error) {
    if (!(error instanceof UnprovableError)) throw error;
    return null;
  }
}
