import { type Address, type Hash, parseAddress, parseHash } from '@chainstead/core';

/** A distinct address for each number. */
export function addressOf(number: number): Address {
  return parseAddress(`0x${number.toString(16).padStart(40, '0')}`);
}

/** A distinct hash for each pair of numbers. */
export function hashOf(kind: number, number: number): Hash {
  return parseHash(`0x${kind.toString(16).padStart(8, '0')}${number.toString(16).padStart(56, '0')}`);
}

/** Twelve seconds a block from here. Unix seconds. */
const GENESIS_TIMESTAMP = 1_600_000_000;
const BLOCK_SECONDS = 12;

/** Unix seconds of a seeded block. */
export function timestampOf(blockNumber: number): number {
  return GENESIS_TIMESTAMP + blockNumber * BLOCK_SECONDS;
}
