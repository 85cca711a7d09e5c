import { type Address, isAddress, parseAddress, toQuantity } from '@chainstead/core';
import { keccak256, keccak256Hex } from './keccak.ts';
import { type Parity, recoverPublicKey } from './recover-public-key.ts';
import { integerBytes } from './rlp.ts';
import { encodeUnsigned, namesSender, transactionType } from './transaction-encoding.ts';
import { integer, nothing, type TransactionJson } from './transaction-fields.ts';

/** What is known of a transaction's sender beside what a node says. */
export type SenderCheck =
  /** Its signature, or the encoding that its hash commits to, says the same. */
  | { readonly result: 'verified' }
  /** Its signature is another account's. */
  | { readonly result: 'mismatch'; readonly recovered: Address }
  /** It carries no signature of an account, or one of a type that is not known. */
  | { readonly result: 'unchecked' };

const SCALAR_BYTES = 32;
const HASH_DIGITS_BEFORE_ADDRESS = 26;
/** Bridges of some chains sign for accounts that have no key: with small numbers, which no real signature has by chance. */
const REAL_SCALAR_MIN = 2n ** 64n;

/** Whether `from` is who sent the transaction, whose hash is proven already. Never throws on what a node may answer. */
export function checkSender(transaction: TransactionJson): SenderCheck {
  const { from } = transaction;
  if (!isAddress(from)) return { result: 'unchecked' };
  if (namesSender(transaction)) return { result: 'verified' };
  const recovered = recoverSender(transaction);
  if (recovered === null) return { result: 'unchecked' };
  if (recovered === parseAddress(from)) return { result: 'verified' };
  const isReal = [transaction.r, transaction.s].every((one) => BigInt(String(one)) >= REAL_SCALAR_MIN);
  return isReal ? { result: 'mismatch', recovered } : { result: 'unchecked' };
}

/** Whose signature the transaction carries; null where there is none, or no key gives it. */
export function recoverSender(transaction: TransactionJson): Address | null {
  const signed = signedHash(transaction);
  const signature = signed === null ? null : compactSignature(transaction);
  if (signed === null || signature === null) return null;
  const key = recoverPublicKey(signed.hash, signature, signed.parity);
  // The first byte says that the point is not compressed.
  return key === null ? null : (`0x${keccak256Hex(key.subarray(1)).slice(HASH_DIGITS_BEFORE_ADDRESS)}` as Address);
}

interface SignedHash {
  readonly hash: Buffer;
  /** Which of the two points with the signature's abscissa is meant. */
  readonly parity: Parity;
}

function signedHash(transaction: TransactionJson): SignedHash | null {
  const { v, yParity } = transaction;
  const isLegacy = transactionType(transaction) === 0;
  const number = quantity(isLegacy ? v : (yParity ?? v));
  if (number === null) return null;
  if (!isLegacy) return hashed(encodeUnsigned(transaction), number);
  // Before EIP-155, and where a signature is meant for any chain.
  if (number < EIP155_FIRST_V) return hashed(encodeUnsigned(transaction), number - LEGACY_FIRST_V);
  const chainId = (number - EIP155_FIRST_V) / 2n;
  const after = [integer(toQuantity(chainId)), nothing(), nothing()];
  return hashed(encodeUnsigned(transaction, after), (number - EIP155_FIRST_V) % 2n);
}

const LEGACY_FIRST_V = 27n;
const EIP155_FIRST_V = 35n;

function hashed(bytes: Buffer | null, parity: bigint): SignedHash | null {
  if (bytes === null || (parity !== 0n && parity !== 1n)) return null;
  return { hash: keccak256(bytes), parity: parity === 0n ? 0 : 1 };
}

/** `r` and `s`, 32 bytes each; null for what is no pair of numbers of that size. */
function compactSignature({ r, s }: TransactionJson): Buffer | null {
  const signature = Buffer.alloc(2 * SCALAR_BYTES);
  for (const [place, scalar] of [r, s].entries()) {
    const number = quantity(scalar);
    if (number === null || number === 0n) return null;
    const bytes = integerBytes(number);
    if (bytes.length > SCALAR_BYTES) return null;
    bytes.copy(signature, (place + 1) * SCALAR_BYTES - bytes.length);
  }
  return signature;
}

function quantity(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : null;
}
