import type { Address, Log } from '@chainstead/core';

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
