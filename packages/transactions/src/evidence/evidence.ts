import type { Address, Hash, Hex } from '@chainstead/core';

/** All that a transaction's logs may say of an account beside its own transfers. What is stored rests on their order: new ones come last. */
export const EVIDENCE = [
  /** The chain's wrapped coin was given to it for coins. */
  'wrap',
  /** It got coins for the chain's wrapped coin. */
  'unwrap',
  /** The called contract unwrapped coins: of everybody who took part. */
  'calledUnwrapped',
  'supply',
  'takeBack',
  'borrow',
  'repay',
  /** Beside `supply`. */
  'stake',
  /** Beside `takeBack`. */
  'unstake',
  'claim',
  /** Beside `supply`. */
  'liquidityAdd',
  /** Beside `takeBack`. */
  'liquidityRemove',
  /** It gave a token, and got new ones of a contract that took as much as any of the first. */
  'shareMinted',
  /** It is one of at least ten that got the same token from the same source. */
  'handedOut',
  /** Beside `handedOut`: as much as all of them. */
  'handedOutEqually',
  /** It gave something to a bridge to another chain, or to others by way of one. */
  'bridge',
] as const;

export type Evidence = (typeof EVIDENCE)[number];

/** A log as far as evidence is read from it. */
export interface EvidenceLog {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
}
