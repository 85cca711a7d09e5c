import { ChainsteadError } from '@chainstead/core';

/** Why a balance could be neither proven nor contradicted. */
export type UnprovableReason =
  /** None of the known places in the contract's storage holds the balances, or no holders are known by whom to look for it. */
  | 'no-slot-found'
  /** The token computes balances from what it keeps (`live` in `erc20_token_classes`). */
  | 'rebasing'
  /** What is kept is not the balance, and upstreams agree on another one. */
  | 'not-plain'
  /** The contract tells no balance that could be compared. */
  | 'no-balance'
  /** No upstream answers `eth_getProof`, or none with a proof that holds. */
  | 'no-proof-from-upstream'
  /** The block's header does not hash to the block's hash by an encoding that is known. */
  | 'header-not-verifiable'
  /** No upstream keeps the state of the block any more. */
  | 'not-archived';

/** A balance can't be proven. Code `BALANCE_UNPROVABLE`. */
export class UnprovableError extends ChainsteadError {
  readonly reason: UnprovableReason;
  /** The sentence without the reason's name. */
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
