import { type Address, keccak256Hex } from '@chainstead/core';
import secp256k1 from 'secp256k1';

export interface Signature {
  /** 32 bytes, of the signed message. */
  readonly hash: Uint8Array;
  /** `r` and `s`, 32 bytes each. */
  readonly scalars: Uint8Array;
  readonly parity: 0 | 1;
}

const HASH_DIGITS_BEFORE_ADDRESS = 26;

export function signer({ hash, scalars, parity }: Signature): Address | null {
  const key = recoverPublicKey(hash, scalars, parity);
  return key === null
    ? null
    : (`0x${keccak256Hex(key.subarray(1)).slice(HASH_DIGITS_BEFORE_ADDRESS)}` as Address);
}

/** 65 bytes. Native code is twenty times as fast as the JavaScript fallback. */
function recoverPublicKey(hash: Uint8Array, signature: Uint8Array, parity: 0 | 1): Uint8Array | null {
  try {
    return secp256k1.ecdsaRecover(signature, parity, hash, false);
  } catch (error) {
    if (error instanceof Error && NO_KEY.test(error.message)) return null;
    throw error;
  }
}

const NO_KEY = /^(?:Signature could not be parsed|Public key could not be recover)$/;
