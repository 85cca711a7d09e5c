import type { Address, Hash, Hex } from '@chainstead/core';

/** Stored bits depend on the order: append only. */
export const EVIDENCE = [
  'wrap',
  'unwrap',
  /** Applies to all participants. */
  'calledUnwrapped',
  'supply',
  'takeBack',
  'borrow',
  'repay',
  /** In addition to `supply`. */
  'stake',
  'unstake',
  'claim',
  'liquidityAdd',
  'liquidityRemove',
  /** Sent a token for newly minted ones of a contract that took as much as any other. */
  'shareMinted',
  'handedOut',
  /** In addition to `handedOut`: all received the same amount. */
  'handedOutEqually',
  'bridge',
] as const;

export type Evidence = (typeof EVIDENCE)[number];

export interface EvidenceLog {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
}
