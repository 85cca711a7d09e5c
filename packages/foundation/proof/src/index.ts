/** Recomputes commitments of headers, checks state proofs. No I/O. Start with `prove-block.ts`. */

export { blockSize, checkWithdrawals } from './blocks/block-size.ts';
export { decodeHeader, type ReadHeader, readHeader } from './blocks/decode-header.ts';
export {
  checkHeaderHash,
  encodeHeader,
  HEADER_FIELDS,
  HEADER_INTEGERS,
  headerHash,
  REQUIRED_FIELDS,
} from './blocks/header-hash.ts';
export { type ProofLevel, proveBlock } from './blocks/prove-block.ts';
export {
  committedTransactions,
  contradictsRoot,
  contradictsSenders,
  proveTransactions,
  type TransactionsProof,
} from './blocks/prove-transactions.ts';
export {
  accumulatorRoot,
  beaconNetwork,
  checkHeaderProof,
  EPOCH_BLOCKS,
  type HeaderRecord,
  type HistoryLists,
  headerProofKind,
  readHashesList,
} from './history/header-proof.ts';
export { BLOOM_BYTES, logsBloom, mayContain } from './receipts/bloom.ts';
export { type DecodedReceipt, decodeReceipt, decodeSlimReceipt } from './receipts/decode-receipt.ts';
export { type ReadLog, readReceiptLogs } from './receipts/read-receipt.ts';
export { encodeReceipt } from './receipts/receipt-encoding.ts';
export { proveReceipts, receiptsRoot, stateSyncTransactionHash } from './receipts/receipts-root.ts';
export { eachOf, hexOf, quantityOf, type RlpItem, readRlpItem, readRlpList } from './rlp/read-rlp.ts';
export { encodedLength } from './rlp/rlp.ts';
export { hexToBytes, InvalidHexBytesError } from './rlp/rlp-text.ts';
export type { RecoverSigners } from './signatures/packed-signatures.ts';
export {
  type CommittedStateRoot,
  committedStateRoot,
  type ProvenAccount,
  verifyAccountProof,
} from './state/account-proof.ts';
export { InvalidStateProofError } from './state-proof-error.ts';
export { decodeTransaction, envelopeType } from './transactions/decode-transaction.ts';
export { checkSender, createdContract, recoverSenders } from './transactions/recover-sender.ts';
export { checkTransactionHash, encodeTransaction } from './transactions/transaction-encoding.ts';
export type { TransactionJson } from './transactions/transaction-fields.ts';
export { TRANSACTION_TYPES } from './transactions/transaction-types.ts';
export { EMPTY_TRIE_ROOT, orderedTrieRoot } from './tries/ordered-trie.ts';
export { readOrderedTrieProof } from './tries/trie-proof.ts';
