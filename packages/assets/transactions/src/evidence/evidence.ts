import type { Address, Hash, Hex } from '@chainstead/core';

/** The stored bits depend on this order: append new kinds. */
export const EVIDENCE = [
  /** It received the wrapped native token for native tokens. */
  'wrap',
  /** It received native tokens for the wrapped native token. */
  'unwrap',
  /** The called contract unwrapped native tokens: applies to all participants. */
  'calledUnwrapped',
  'supply',
  'takeBack',
  'borrow',
  'repay',
  /** In addition to `supply`. */
  'stake',
  /** In addition to `takeBack`. */
  'unstake',
  'claim',
  /** In addition to `supply`. */
  'liquidityAdd',
  /** In addition to `takeBack`. */
  'liquidityRemove',
  /** It sent a token, and received newly minted ones from a contract that took as much of the first as any other. */
  'shareMinted',
  /** It is one of at least ten receivers of the same token from the same source. */
  'handedOut',
  /** In addition to `handedOut`: all received the same amount. */
  'handedOutEqually',
  /** It sent something to a bridge to another chain, or to others through one. */
  'bridge',
] as const;

export type Evidence = (typeof EVIDENCE)[number];

export interface EvidenceLog {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
}
