/**
 * Recomputes what a header commits to from what a node answered: receipts root, transactions root, blooms, header hash; and checks proofs of
 * the state under it (`account-proof.ts`). Pure: no I/O.
 * Imports only core and chains. Start reading at `prove-block.ts`.
 */
export { type ProvenAccount, verifyAccountProof } from './account-proof.ts';
export { BLOOM_BYTES, logsBloom } from './bloom.ts';
export { type CommittedStateRoot, committedStateRoot } from './committed-state-root.ts';
export { createdContract } from './created-contract.ts';
export { checkHeaderHash, headerHash } from './header-hash.ts';
export { hexToBytes, InvalidHexBytesError } from './hex-bytes.ts';
export { EMPTY_TRIE_ROOT, orderedTrieRoot } from './ordered-trie.ts';
export type { RecoverSigners } from './packed-signatures.ts';
export { type ProofLevel, proveBlock } from './prove-block.ts';
export {
  committedTransactions,
  contradictsRoot,
  contradictsSenders,
  proveTransactions,
  type TransactionsProof,
} from './prove-transactions.ts';
export { encodeReceipt } from './receipt-encoding.ts';
export { receiptsRoot } from './receipts-root.ts';
export { checkSender } from './recover-sender.ts';
export { InvalidStateProofError } from './state-proof-error.ts';
export { checkTransactionHash, encodeTransaction } from './transaction-encoding.ts';
export type { TransactionJson } from './transaction-fields.ts';
export { checkWithdrawals } from './withdrawals-root.ts';
