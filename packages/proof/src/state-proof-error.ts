import { ChainsteadError } from '@chainstead/core';

/** What is wrong with a proof. */
export type StateProofFault =
  /** Not of the form that EIP-1186 gives answers, or a node or value that no trie has. */
  | 'malformed'
  /** The proof begins at another root: of another block, or made up. */
  | 'other-root'
  /** A node is not the one that its parent names. */
  | 'node-mismatch'
  /** It ends before the key does. */
  | 'too-short'
  /** Nodes are left over. */
  | 'too-long'
  /** It has more nodes than a key has digits. */
  | 'too-deep'
  /** It is of another account or slot than was asked for. */
  | 'other-key'
  /** What the answer says beside its proof is not what the proof shows. */
  | 'contradiction'
  /** The account is proven, but the chain keeps other members in it than Ethereum does. */
  | 'account-encoding';

/** A proof of a chain's state that proves nothing. Code `STATE_PROOF_INVALID`. */
export class InvalidStateProofError extends ChainsteadError {
  readonly fault: StateProofFault;

  constructor(fault: StateProofFault, what: string) {
    super({
      code: 'STATE_PROOF_INVALID',
      message: `The proof of a chain's state is refused (${fault}): ${what}`,
      facts: { fault },
      remedy: 'Add another upstream that answers eth_getProof',
      retryable: false,
    });
    this.fault = fault;
  }
}
