import type { ReceiptsRootEncoding } from '@chainstead/chains';
import { type Hash, keccak256Hex, type Receipt } from '@chainstead/core';
import { hexToBytes } from '../rlp/hex-bytes.ts';
import { orderedTrieRoot } from '../tries/ordered-trie.ts';
import { type BloomSource, encodeReceipt } from './receipt-encoding.ts';

const STATE_SYNC_PREFIX = Buffer.from('matic-bor-receipt-');

export interface ReceiptsRootContext {
  readonly encoding: Exclude<ReceiptsRootEncoding, 'none'>;
  readonly blockNumber: number;
  readonly blockHash: Hash;
}

/** @throws InvalidHexBytesError */
export function receiptsRoot(
  receipts: readonly Receipt[],
  context: ReceiptsRootContext,
  bloom: BloomSource = 'computed',
): Hash {
  return orderedTrieRoot(committedReceipts(receipts, context).map((receipt) => encodeReceipt(receipt, bloom)));
}

export function committedReceipts(
  receipts: readonly Receipt[],
  context: ReceiptsRootContext,
): readonly Receipt[] {
  // HyperCore's use no gas and come first.
  const { encoding, blockNumber, blockHash } = context;
  const own =
    encoding === 'hyperliquid' ? receipts.filter((receipt) => receipt.cumulativeGasUsed !== 0n) : receipts;
  const stateSync = stateSyncTransactionHash(blockNumber, blockHash);
  const isCommitted = ({ transactionHash }: Receipt): boolean => transactionHash !== stateSync;
  return own.every(isCommitted) ? own : own.filter(isCommitted);
}

/** Bor's before Madhugiri, outside the roots. It can't collide, so all chains check it. */
export function stateSyncTransactionHash(blockNumber: number, blockHash: Hash): Hash {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(blockNumber));
  return keccak256Hex(Buffer.concat([STATE_SYNC_PREFIX, number, hexToBytes(blockHash)]));
}
