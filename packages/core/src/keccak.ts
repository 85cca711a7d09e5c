import { hash } from 'node:crypto';
import type { Hash } from './primitives.ts';

/** Keccak-256 as Ethereum uses it (not SHA3-256), by the runtime's native code. 32 bytes. */
export function keccak256(bytes: Uint8Array): Buffer {
  return hash('keccak-256', bytes, 'buffer');
}

/** Keccak-256 as `0x` and 64 lower-case digits. */
export function keccak256Hex(bytes: Uint8Array): Hash {
  return `0x${hash('keccak-256', bytes, 'hex')}` as Hash;
}

/** Writes the 32 bytes of the hash of `bytes` at `offset`. A Latin-1 digest costs half of what a fresh buffer costs. */
export function writeKeccak256(target: Buffer, offset: number, bytes: Uint8Array): void {
  target.write(hash('keccak-256', bytes, 'latin1'), offset, 32, 'latin1');
}
