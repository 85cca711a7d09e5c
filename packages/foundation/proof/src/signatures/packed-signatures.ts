/** Plain bytes, cheap to pass between processes. */
import { type Address, keccak256Hex } from '@chainstead/core';
import secp256k1 from 'secp256k1';

const HASH_BYTES = 32;
const SCALARS_BYTES = 64;
/** Hash, r, s, parity. */
export const PACKED_SIGNATURE_BYTES = HASH_BYTES + SCALARS_BYTES + 1;
/** An account; zeros: no key matches. */
export const PACKED_SIGNER_BYTES = 20;

const NO_SIGNER = '0'.repeat(2 * PACKED_SIGNER_BYTES);

export type RecoverSigners = (signatures: Uint8Array) => Promise<Uint8Array>;

/** In this thread. */
export const recoverHere: RecoverSigners = async (signatures) => recoverSigners(signatures);

export function packSignatures(signatures: readonly Signature[]): Uint8Array {
  const packed = new Uint8Array(signatures.length * PACKED_SIGNATURE_BYTES);
  for (const [index, { hash, scalars, parity }] of signatures.entries()) {
    const start = index * PACKED_SIGNATURE_BYTES;
    packed.set(hash, start);
    packed.set(scalars, start + HASH_BYTES);
    packed[start + HASH_BYTES + SCALARS_BYTES] = parity;
  }
  return packed;
}

export function recoverSigners(signatures: Uint8Array): Uint8Array {
  const count = signatures.length / PACKED_SIGNATURE_BYTES;
  const signers = new Uint8Array(count * PACKED_SIGNER_BYTES);
  for (let index = 0; index < count; index++) {
    const start = index * PACKED_SIGNATURE_BYTES;
    const scalars = start + HASH_BYTES;
    const address = signer({
      hash: signatures.subarray(start, scalars),
      scalars: signatures.subarray(scalars, scalars + SCALARS_BYTES),
      parity: signatures[scalars + SCALARS_BYTES] === 0 ? 0 : 1,
    });
    if (address !== null) signers.set(Buffer.from(address.slice(2), 'hex'), index * PACKED_SIGNER_BYTES);
  }
  return signers;
}

export function signerAt(signers: Uint8Array, index: number): Address | null {
  const start = signers.byteOffset + index * PACKED_SIGNER_BYTES;
  const digits = Buffer.from(signers.buffer, start, PACKED_SIGNER_BYTES).toString('hex');
  return digits === NO_SIGNER ? null : (`0x${digits}` as Address);
}

export interface Signature {
  /** 32 bytes, of the signed message. */
  readonly hash: Uint8Array;
  /** `r` and `s`, 32 bytes each. */
  readonly scalars: Uint8Array;
  readonly parity: 0 | 1;
}

/** Null: no key matches. Native code is twenty times as fast as the JavaScript fallback. */
export function signer({ hash, scalars, parity }: Signature): Address | null {
  try {
    return hashedAddress(secp256k1.ecdsaRecover(scalars, parity, hash, false).subarray(1));
  } catch (error) {
    if (error instanceof Error && NO_KEY.test(error.message)) return null;
    throw error;
  }
}

/** Last 20 bytes of the keccak-256 hash. */
export function hashedAddress(bytes: Uint8Array): Address {
  return `0x${keccak256Hex(bytes).slice(2 + 2 * (HASH_BYTES - PACKED_SIGNER_BYTES))}` as Address;
}

const NO_KEY = /^(?:Signature could not be parsed|Public key could not be recover)$/;
