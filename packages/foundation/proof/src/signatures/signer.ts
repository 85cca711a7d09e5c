import { type Address, keccak256Hex } from '@chainstead/core';
import secp256k1 from 'secp256k1';

export interface Signature {
  /** Hash of the signed message, 32 bytes. */
  readonly hash: Uint8Array;
  /** `r` and `s`, 32 bytes each. */
  readonly scalars: Uint8Array;
  /** Selects one of the two points with the signature's x-coordinate. */
  readonly parity: 0 | 1;
}

const HASH_DIGITS_BEFORE_ADDRESS = 26;

/** Null if no key matches. */
export function signer({ hash, scalars, parity }: Signature): Address | null {
  const key = recoverPublicKey(hash, scalars, parity);
  // The first byte marks the point as uncompressed.
  return key === null ? null : (`0x${keccak256Hex(key.subarray(1)).slice(HASH_DIGITS_BEFORE_ADDRESS)}` as Address);
}

/** 65 bytes, uncompressed. Native libsecp256k1 is twenty times as fast as JavaScript, the fallback without a build. */
function recoverPublicKey(hash: Uint8Array, signature: Uint8Array, parity: 0 | 1): Uint8Array | null {
  try {
    return secp256k1.ecdsaRecover(signature, parity, hash, false);
  } catch (error) {
    if (error instanceof Error && NO_KEY.test(error.message)) return null;
    throw error;
  }
}

/** Error texts of the library if the numbers are outside the curve's order, or no point matches them. */
const NO_KEY = /^(?:Signature could not be parsed|Public key could not be recover)$/;
