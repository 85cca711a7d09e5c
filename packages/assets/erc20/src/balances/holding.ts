import type { Address } from '@chainstead/core';

/** Excludes the account's wrapping and unwrapping of the native token. */
export interface Holding {
  readonly account: Address;
  readonly token: Address;
}

/** The balance at the end of `start`, then each change up to the end of `end`. */
export interface BalanceSpan {
  /** -1: before the chain's first block. */
  readonly start: number;
  readonly end: number;
}
