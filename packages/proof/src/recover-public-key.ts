import secp256k1 from 'secp256k1';

/** Which of the two points with a signature's abscissa is meant. */
export type Parity = 0 | 1;

/**
 * The public key that a signature on the curve secp256k1 was made with: 65 bytes, not compressed. Null where no key gives it.
 * By libsecp256k1, compiled for the platform: twenty times as fast as the curve in JavaScript, which it falls back on where there is no such build.
 * @param hash of what was signed, 32 bytes
 * @param signature r and s, 32 bytes each
 */
export function recoverPublicKey(hash: Uint8Array, signature: Uint8Array, parity: Parity): Uint8Array | null {
  try {
    return secp256k1.ecdsaRecover(signature, parity, hash, false);
  } catch (error) {
    if (error instanceof Error && NO_KEY.test(error.message)) return null;
    throw error;
  }
}

/** How it says that the numbers lie outside the curve's order, or that no point belongs to them. */
const NO_KEY = /^(?:Signature could not be parsed|Public key could not be recover)$/;
