import type { Address, ChainId } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';

export type SubjectKind = 'wallet' | 'contract' | 'sender' | 'receiver' | 'emitter';

/**
 * Whose history: a wallet's (what moved to and from it), a contract's (what of its events datasets decode), a sender's (the transactions that it sent), a
 * receiver's (the coins that it received, as its balances tell) or an emitter's (every log of a contract).
 */
export interface Subject {
  readonly chainId: ChainId;
  readonly kind: SubjectKind;
  readonly address: Address;
}

/** Whose blocks are recorded as searched: a subject's, or apart from them those that a search marks in its own words. */
export interface RangeSubject extends Omit<Subject, 'kind'> {
  readonly kind: SubjectKind | `${SubjectKind}-${string}`;
}

/** The key of the subject's rows, for `chain_id = $1 AND kind = $2 AND subject = $3`. */
export function subjectKey({ chainId, kind, address }: RangeSubject): readonly [ChainId, string, Buffer] {
  return [chainId, kind, addressBytes(address)];
}
