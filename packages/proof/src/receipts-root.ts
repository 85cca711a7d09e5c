import type { ReceiptsRootEncoding } from '@chainstead/chains';
import { type Hash, keccak256Hex, type Receipt } from '@chainstead/core';
import { hexToBytes } from './hex-bytes.ts';
import { orderedTrieRoot } from './ordered-trie.ts';
import { type BloomSource, encodeReceipt } from './receipt-encoding.ts';

const STATE_SYNC_PREFIX = Buffer.from('matic-bor-receipt-');

/** Which block the receipts are of, and how its chain commits to them. */
export interface ReceiptsRootContext {
  readonly encoding: Exclude<ReceiptsRootEncoding, 'none'>;
  readonly blockNumber: number;
  readonly blockHash: Hash;
}

/**
 * The receipts root that the header should have. Takes the block's receipts in order.
 * @throws InvalidHexBytesError when a receipt holds something that is not hexadecimal of the right size.
 */
export function receiptsRoot(
  receipts: readonly Receipt[],
  context: ReceiptsRootContext,
  bloom: BloomSource = 'computed',
): Hash {
  return orderedTrieRoot(committedReceipts(receipts, context).map((receipt) => encodeReceipt(receipt, bloom)));
}

/** The receipts that the header commits to: all but the synthetic ones that some chains' nodes add. */
export function committedReceipts(receipts: readonly Receipt[], context: ReceiptsRootContext): readonly Receipt[] {
  // HyperCore's system transactions use no gas and come before all others.
  const own = context.encoding === 'hyperliquid' ? receipts.filter((one) => one.cumulativeGasUsed !== 0n) : receipts;
  const stateSync = stateSyncTransactionHash(context.blockNumber, context.blockHash);
  return own.some((one) => one.transactionHash === stateSync)
    ? own.filter((one) => one.transactionHash !== stateSync)
    : own;
}

/**
 * Hash of the transaction that Bor invents for a block's state-sync events before the Madhugiri fork: outside
 * transactions root, receipts root and bloom. Collides with nothing on other chains, so it is looked for on all.
 */
export function stateSyncTransactionHash(blockNumber: number, blockHash: Hash): Hash {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(blockNumber));
  return keccak256Hex(Buffer.concat([STATE_SYNC_PREFIX, number, hexToBytes(blockHash)]));
}
