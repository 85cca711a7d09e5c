import { getHashes, hash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Hash } from './primitives.ts';

/** Keccak-256, not SHA3-256. */
export interface Keccak {
  digest(bytes: Uint8Array): Buffer;
  hex(bytes: Uint8Array): string;
  write(target: Buffer, offset: number, bytes: Uint8Array): void;
}

/** A Latin-1 digest costs half as much as a new buffer. */
export const nativeKeccak: Keccak = {
  digest: (bytes) => hash('keccak-256', bytes, 'buffer'),
  hex: (bytes) => hash('keccak-256', bytes, 'hex'),
  write: (target, offset, bytes) => void target.write(hash('keccak-256', bytes, 'latin1'), offset, 32, 'latin1'),
};

/** For Node 22, which has no native implementation. */
export const portableKeccak: Keccak = {
  digest: (bytes) => Buffer.from(keccak_256(bytes).buffer),
  hex: (bytes) => Buffer.from(keccak_256(bytes).buffer).toString('hex'),
  write: (target, offset, bytes) => target.set(keccak_256(bytes), offset),
};

export const HAS_NATIVE_KECCAK = getHashes().includes('keccak-256');

const keccak = HAS_NATIVE_KECCAK ? nativeKeccak : portableKeccak;

export const keccak256 = keccak.digest;

export const writeKeccak256 = keccak.write;

export function keccak256Hex(bytes: Uint8Array): Hash {
  return `0x${keccak.hex(bytes)}` as Hash;
}
