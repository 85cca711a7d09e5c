import { type Address, keccak256Hex } from '@chainstead/core';
import { type Parity, recoverPublicKey } from './recover-public-key.ts';

/** A signature on the curve secp256k1. */
export interface Signature {
  /** Of what was signed, 32 bytes. */
  readonly hash: Uint8Array;
  /** `r` and `s`, 32 bytes each. */
  readonly scalars: Uint8Array;
  /** Which of the two points with the signature's abscissa is meant. */
  readonly parity: Parity;
}

const HASH_DIGITS_BEFORE_ADDRESS = 26;

/** The account whose key made the signature; null where no key gives it. */
export function signer({ hash, scalars, parity }: Signature): Address | null {
  const key = recoverPublicKey(hash, scalars, parity);
  // The first byte says that the point is not compressed.
  return key === null ? null : (`0x${keccak256Hex(key.subarray(1)).slice(HASH_DIGITS_BEFORE_ADDRESS)}` as Address);
}
