import type { ReceiptsRootEncoding } from '@chainstead/chains';
import { type Hash, keccak256Hex, type Receipt } from '@chainstead/core';
import { hexToBytes } from '../rlp/hex-bytes.ts';
import { orderedTrieRoot } from '../tries/ordered-trie.ts';
import { type BloomSource, encodeReceipt } from './receipt-encoding.ts';

const STATE_SYNC_PREFIX = Buffer.from('matic-bor-receipt-');

/** The block of the receipts, and how its chain commits to them. */
export interface ReceiptsRootContext {
  readonly encoding: Exclude<ReceiptsRootEncoding, 'none'>;
  readonly blockNumber: number;
  readonly blockHash: Hash;
}

/**
 * Returns the expected receipts root for the block's receipts in order.
 * @throws InvalidHexBytesError if a receipt has a value that is not hexadecimal of the right size
 */
export function receiptsRoot(
  receipts: readonly Receipt[],
  context: ReceiptsRootContext,
  bloom: BloomSource = 'computed',
): Hash {
  return orderedTrieRoot(committedReceipts(receipts, context).map((receipt) => encodeReceipt(receipt, bloom)));
}

/** Returns the receipts that the header commits to: all except the synthetic ones that nodes of some chains add. */
export function committedReceipts(receipts: readonly Receipt[], context: ReceiptsRootContext): readonly Receipt[] {
  // HyperCore's system transactions use no gas and come before all others.
  const own = context.encoding === 'hyperliquid' ? receipts.filter((one) => one.cumulativeGasUsed !== 0n) : receipts;
  const stateSync = stateSyncTransactionHash(context.blockNumber, context.blockHash);
  return own.some((one) => one.transactionHash === stateSync)
    ? own.filter((one) => one.transactionHash !== stateSync)
    : own;
}

/**
 * Returns the hash of the transaction that Bor adds for a block's state-sync events before the Madhugiri fork, outside
 * the transactions root, the receipts root and the bloom. It can't collide on other chains, so it is checked on all.
 */
export function stateSyncTransactionHash(blockNumber: number, blockHash: Hash): Hash {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(blockNumber));
  return keccak256Hex(Buffer.concat([STATE_SYNC_PREFIX, number, hexToBytes(blockHash)]));
}
