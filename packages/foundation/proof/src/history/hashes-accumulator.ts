import type { Hash } from '@chainstead/core';
import { hexToBytes } from '../rlp/hex-bytes.ts';
import { hashPair, listRoot } from './merkle-branch.ts';

export const EPOCH_BLOCKS = 8192;
const EPOCH_DEPTH = 13;
const DIFFICULTY_BYTES = 32;

export interface HeaderRecord {
  readonly hash: Hash;
  readonly totalDifficulty: bigint;
}

/** Hash tree root of a `List[HeaderRecord, 8192]`: one entry of the historical hashes list. */
export function accumulatorRoot(records: readonly HeaderRecord[]): Buffer {
  return listRoot(
    records.map(({ hash, totalDifficulty }) => hashPair(hexToBytes(hash), littleEndian(totalDifficulty))),
    EPOCH_DEPTH,
  );
}

function littleEndian(value: bigint): Buffer {
  const digits = BigInt.asUintN(8 * DIFFICULTY_BYTES, value).toString(16);
  return Buffer.from(digits.padStart(2 * DIFFICULTY_BYTES, '0'), 'hex').reverse();
}
