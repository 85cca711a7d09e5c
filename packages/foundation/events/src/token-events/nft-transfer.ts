import type { Address, Log } from '@chainstead/core';
import { addressAt, bigIntAt, wordCount } from '../abi/index.ts';

/** Stored numbers. */
export const NFT_TRANSFER_KINDS = {
  erc721: 0,
  erc1155Single: 1,
  erc1155Batch: 2,
  consecutive: 3,
  cryptoPunks: 4,
  unindexed: 5,
} as const;

export type NftTransferKind = (typeof NFT_TRANSFER_KINDS)[keyof typeof NFT_TRANSFER_KINDS];

export interface NftTransfer {
  readonly log: Log;
  readonly item: number;
  readonly kind: NftTransferKind;
  readonly token: Address;
  /** Decimal digits, up to 2^256 − 1. */
  readonly tokenId: string;
  /** For a consecutive mint that is not expanded (consecutive.ts). */
  readonly lastTokenId: string | null;
  readonly from: Address;
  readonly to: Address;
  /** Decimal digits; `1` if indivisible. */
  readonly amount: string;
  readonly operator: Address | null;
}

/** Stored numbers. */
export const MALFORMED_REASONS = {
  undecodable: 0,
  lengthsDiffer: 1,
  emptyRange: 2,
} as const;

export type MalformedReason = (typeof MALFORMED_REASONS)[keyof typeof MALFORMED_REASONS];

export interface MalformedNftLog {
  readonly log: Log;
  readonly reason: MalformedReason;
}

/** Per event; a larger range stays one transfer. */
export const CONSECUTIVE_IDS_MAX = 50_000;

/** An event costs the same whatever it claims; this bounds hundreds of millions. */
export const CONSECUTIVE_IDS_OF_BLOCK_MAX = 100_000;

/** EIP-2309, both ids inclusive. */
export interface ConsecutiveRange {
  readonly first: bigint;
  readonly last: bigint;
  readonly from: Address;
  readonly to: Address;
}

export function readConsecutiveRange(log: Log): ConsecutiveRange | MalformedReason {
  const [, firstId, topic2, topic3] = log.topics;
  const from = addressAt(topic2);
  const to = addressAt(topic3);
  if (firstId === undefined || from === null || to === null || wordCount(log.data) !== 1)
    return MALFORMED_REASONS.undecodable;
  const first = bigIntAt(firstId);
  const last = bigIntAt(log.data);
  return last < first ? MALFORMED_REASONS.emptyRange : { first, last, from, to };
}

/** Call it for every range of a block, in chain order. */
export type Expansion = (blockNumber: number, range: Pick<ConsecutiveRange, 'first' | 'last'>) => boolean;

/** Smaller ranges after one that exceeds the rest may still fit. */
export function createExpansion(): Expansion {
  let block = -1;
  let left = 0;
  return (blockNumber, range) => {
    if (blockNumber !== block) {
      block = blockNumber;
      left = CONSECUTIVE_IDS_OF_BLOCK_MAX;
    }
    const ids = range.last - range.first + 1n;
    if (ids > CONSECUTIVE_IDS_MAX || ids > left) return false;
    left -= Number(ids);
    return true;
  };
}
