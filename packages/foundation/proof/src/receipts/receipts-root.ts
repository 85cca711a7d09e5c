import type { ReceiptsRootEncoding } from '@chainstead/chains';
import { type Hash, keccak256Hex, type Receipt } from '@chainstead/core';
import { hexToBytes } from '../rlp/rlp-text.ts';
import { orderedTrieProof, orderedTrieRoot } from '../tries/ordered-trie.ts';
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

interface ReceiptProof {
  /** Among the transactions that the header commits to. */
  readonly index: number;
  readonly nodes: readonly Buffer[];
}

/** Null if the whole block's receipts don't hash to `root`. @throws InvalidHexBytesError */
export function proveReceipts(
  receipts: readonly Receipt[],
  context: ReceiptsRootContext,
  root: Hash,
  transactions: readonly number[],
): ReadonlyMap<number, ReceiptProof> | null {
  const committed = committedReceipts(receipts, context);
  for (const bloom of ['given', 'computed'] as const) {
    const values = committed.map((receipt) => encodeReceipt(receipt, bloom));
    if (orderedTrieRoot(values) !== root) continue;
    return new Map(
      transactions.flatMap((wanted): (readonly [number, ReceiptProof])[] => {
        const index = committed.findIndex(({ transactionIndex }) => transactionIndex === wanted);
        return index < 0 ? [] : [[wanted, { index, nodes: orderedTrieProof(values, index) }]];
      }),
    );
  }
  return null;
}
