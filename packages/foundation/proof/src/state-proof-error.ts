import { ChainsteadError } from '@chainstead/core';

export type StateProofFault =
  /** Not EIP-1186, or a node that no trie has. */
  | 'malformed'
  | 'other-root'
  | 'node-mismatch'
  | 'too-short'
  | 'too-long'
  | 'too-deep'
  | 'other-key'
  | 'contradiction'
  | 'account-encoding';

export class InvalidStateProofError extends ChainsteadError {
  readonly fault: StateProofFault;

  constructor(fault: StateProofFault, what: string) {
    super({
      code: 'STATE_PROOF_INVALID',
      message: `The state proof is invalid (${fault}): ${what}`,
      facts: { fault },
      remedy: 'Add another upstream that supports eth_getProof',
      retryable: false,
    });
    this.fault = fault;
  }
}
