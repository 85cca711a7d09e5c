import { ChainsteadError } from '@chainstead/core';

export type UnprovableReason =
  /** No known slot holds the balances, or no holders are known to search with. */
  | 'no-slot-found'
  /** The token computes balances from stored values (`live`). */
  | 'rebasing'
  /** The stored value is not the balance, and upstreams agree on another one. */
  | 'not-plain'
  | 'no-balance'
  /** No upstream supports `eth_getProof`, or none returns a valid proof. */
  | 'no-proof-from-upstream'
  /** The header does not hash to the block hash with any known encoding. */
  | 'header-not-verifiable'
  /** No upstream has the state of the block any more. */
  | 'not-archived';

export class UnprovableError extends ChainsteadError {
  readonly reason: UnprovableReason;
  readonly why: string;

  constructor(reason: UnprovableReason, why: string, cause?: unknown) {
    super({
      code: 'BALANCE_UNPROVABLE',
      message: `The balance can't be proven (${reason}): ${why}`,
      facts: { reason },
      retryable: false,
      cause,
    });
    this.reason = reason;
    this.why = why;
  }
}
