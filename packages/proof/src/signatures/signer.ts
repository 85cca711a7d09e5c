import { type Address, keccak256Hex } from '@chainstead/core';
import secp256k1 from 'secp256k1';

/** A signature on the curve secp256k1. */
export interface Signature {
  /** Hash of the signed message, 32 bytes. */
  readonly hash: Uint8Array;
  /** `r` and `s`, 32 bytes each. */
  readonly scalars: Uint8Array;
  /** Selects one of the two points with the signature's x-coordinate. */
  readonly parity: Parity;
}

const HASH_DIGITS_BEFORE_ADDRESS = 26;

/** Returns the account whose key made the signature; null if no key matches. */
export function signer({ hash, scalars, parity }: Signature): Address | null {
  const key = recoverPublicKey(hash, scalars, parity);
  // The first byte marks the point as uncompressed.
  return key === null ? null : (`0x${keccak256Hex(key.subarray(1)).slice(HASH_DIGITS_BEFORE_ADDRESS)}` as Address);
}

/** Selects one of the two points with a signature's x-coordinate. */
type Parity = 0 | 1;

/**
 * Returns the public key of a signature on the curve secp256k1: 65 bytes, uncompressed; null if no key matches. Uses
 * native libsecp256k1, twenty times as fast as JavaScript, with JavaScript as a fallback on platforms without a build.
 * @param hash of the signed message, 32 bytes
 * @param signature r and s, 32 bytes each
 */
function recoverPublicKey(hash: Uint8Array, signature: Uint8Array, parity: Parity): Uint8Array | null {
  try {
    return secp256k1.ecdsaRecover(signature, parity, hash, false);
  } catch (error) {
    if (error instanceof Error && NO_KEY.test(error.message)) return null;
    throw error;
  }
}

/** Error texts of the library if the numbers are outside the curve's order, or no point matches them. */
const NO_KEY = /^(?:Signature could not be parsed|Public key could not be recover)$/;
