import type { Address, Log } from '@chainstead/core';
import { addressAt, bigIntAt, wordCount } from '../abi/index.ts';
import { MALFORMED_REASONS, type MalformedReason } from './nft-transfer.ts';

/** Ids of one ConsecutiveTransfer that become separate transfers; a larger range stays one transfer. */
export const CONSECUTIVE_IDS_MAX = 50_000;

/**
 * For all ConsecutiveTransfer events of a block. An event costs its emitter the same whatever it claims: without this,
 * one transaction could claim hundreds of millions.
 */
export const CONSECUTIVE_IDS_OF_BLOCK_MAX = 100_000;

/** EIP-2309. Both ids are inclusive. */
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

/** Whether the ids become separate transfers. To be called for every range of a block, in chain order. */
export type Expansion = (blockNumber: number, range: Pick<ConsecutiveRange, 'first' | 'last'>) => boolean;

/** A range that exceeds the rest of its block stays one transfer; smaller ones after it may still fit. */
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
