/** Recomputes commitments of headers, checks state proofs. No I/O. Start with `prove-block.ts`. */

export { blockSize } from './blocks/block-size.ts';
export { decodeHeader } from './blocks/decode-header.ts';
export { checkHeaderHash, encodeHeader, headerHash } from './blocks/header-hash.ts';
export { type ProofLevel, proveBlock } from './blocks/prove-block.ts';
export {
  committedTransactions,
  contradictsRoot,
  contradictsSenders,
  proveTransactions,
  type TransactionsProof,
} from './blocks/prove-transactions.ts';
export { type ReadHeader, readHeader } from './blocks/read-header.ts';
export { checkWithdrawals } from './blocks/withdrawals-root.ts';
export { beaconNetwork } from './history/beacon-networks.ts';
export { accumulatorRoot, EPOCH_BLOCKS, type HeaderRecord } from './history/hashes-accumulator.ts';
export {
  checkHeaderProof,
  type HistoryLists,
  headerProofKind,
  readHashesList,
} from './history/header-proof.ts';
export { BLOOM_BYTES, logsBloom, mayContain } from './receipts/bloom.ts';
export { type DecodedReceipt, decodeReceipt, decodeSlimReceipt } from './receipts/decode-receipt.ts';
export { type ReadLog, readReceiptLogs } from './receipts/read-receipt.ts';
export { encodeReceipt } from './receipts/receipt-encoding.ts';
export { proveReceipts } from './receipts/receipts-proof.ts';
export { receiptsRoot, stateSyncTransactionHash } from './receipts/receipts-root.ts';
export { hexToBytes, InvalidHexBytesError } from './rlp/hex-bytes.ts';
export { type RlpItem, readRlpItem, readRlpList } from './rlp/read-rlp.ts';
export { encodedLength } from './rlp/rlp.ts';
export { eachOf, hexOf, quantityOf } from './rlp/rlp-values.ts';
export type { RecoverSigners } from './signatures/packed-signatures.ts';
export { type ProvenAccount, verifyAccountProof } from './state/account-proof.ts';
export { type CommittedStateRoot, committedStateRoot } from './state/committed-state-root.ts';
export { InvalidStateProofError } from './state-proof-error.ts';
export { createdContract } from './transactions/created-contract.ts';
export { decodeTransaction, envelopeType } from './transactions/decode-transaction.ts';
export { checkSender } from './transactions/recover-sender.ts';
export { recoverSenders } from './transactions/recover-senders.ts';
export { checkTransactionHash, encodeTransaction } from './transactions/transaction-encoding.ts';
export type { TransactionJson } from './transactions/transaction-fields.ts';
export { EMPTY_TRIE_ROOT, orderedTrieRoot } from './tries/ordered-trie.ts';
export { readOrderedTrieProof } from './tries/trie-proof.ts';
