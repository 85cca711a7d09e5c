import { ChainsteadError } from '@chainstead/core';

export type StateProofFault =
  /** Not in the form of EIP-1186, or a node or value that no trie has. */
  | 'malformed'
  /** The proof begins at another root: of another block, or invented. */
  | 'other-root'
  | 'node-mismatch'
  | 'too-short'
  | 'too-long'
  /** The proof has more nodes than a key has digits. */
  | 'too-deep'
  | 'other-key'
  | 'contradiction'
  /** The account is proven, but the chain encodes accounts differently from Ethereum. */
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
