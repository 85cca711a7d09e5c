import { type Address, isAddress, keccak256, parseAddress, toQuantity } from '@chainstead/core';
import { integerBytes } from '../rlp/rlp.ts';
import { type Signature, signer } from '../signatures/signer.ts';
import { encodeUnsigned, namesSender, transactionType } from './transaction-encoding.ts';
import { integer, nothing, type TransactionJson } from './transaction-fields.ts';

export type SenderCheck =
  /** Its signature, or the encoding that its hash commits to, confirms the sender. */
  | { readonly result: 'verified' }
  | { readonly result: 'mismatch'; readonly recovered: Address }
  /** It has no signature of an account, or is of an unknown type. */
  | { readonly result: 'unchecked' };

const SCALAR_BYTES = 32;
/** Bridges of some chains sign for accounts without a key, with small numbers that no real signature has by chance. */
const REAL_SCALAR_MIN = 2n ** 64n;

/** The transaction's hash must be proven already. Never throws for data from a node. */
export function checkSender(transaction: TransactionJson): SenderCheck {
  const signature = senderSignature(transaction);
  if (signature !== null) return compareSender(transaction, signer(signature));
  return { result: isAddress(transaction.from) && namesSender(transaction) ? 'verified' : 'unchecked' };
}

/** Null without a signature, or if no key matches. */
export function recoverSender(transaction: TransactionJson): Address | null {
  const signature = signatureOf(transaction);
  return signature === null ? null : signer(signature);
}

/** Null without a signature or `from`, or if the encoding contains the sender. */
export function senderSignature(transaction: TransactionJson): Signature | null {
  return !isAddress(transaction.from) || namesSender(transaction) ? null : signatureOf(transaction);
}

/** @param recovered signer of {@link senderSignature}; null: no key matches */
export function compareSender({ from, r, s }: TransactionJson, recovered: Address | null): SenderCheck {
  if (recovered === null) return { result: 'unchecked' };
  if (recovered === parseAddress(from)) return { result: 'verified' };
  const isReal = [r, s].every((scalar) => BigInt(String(scalar)) >= REAL_SCALAR_MIN);
  return isReal ? { result: 'mismatch', recovered } : { result: 'unchecked' };
}

function signatureOf(transaction: TransactionJson): Signature | null {
  const signed = signedHash(transaction);
  const scalars = signed === null ? null : compactSignature(transaction);
  return signed === null || scalars === null ? null : { ...signed, scalars };
}

function signedHash(transaction: TransactionJson): Omit<Signature, 'scalars'> | null {
  const { v, yParity } = transaction;
  const isLegacy = transactionType(transaction) === 0;
  const number = quantity(isLegacy ? v : (yParity ?? v));
  if (number === null) return null;
  if (!isLegacy) return hashed(encodeUnsigned(transaction), number);
  // Before EIP-155, and for signatures valid on any chain.
  if (number < EIP155_FIRST_V) return hashed(encodeUnsigned(transaction), number - LEGACY_FIRST_V);
  const chainId = (number - EIP155_FIRST_V) / 2n;
  const after = integer(toQuantity(chainId)) + nothing() + nothing();
  return hashed(encodeUnsigned(transaction, after), (number - EIP155_FIRST_V) % 2n);
}

const LEGACY_FIRST_V = 27n;
const EIP155_FIRST_V = 35n;

function hashed(bytes: Buffer | null, parity: bigint): Omit<Signature, 'scalars'> | null {
  if (bytes === null || (parity !== 0n && parity !== 1n)) return null;
  return { hash: keccak256(bytes), parity: parity === 0n ? 0 : 1 };
}

/** `r` and `s`, 32 bytes each; null if they are not two numbers of that size. */
function compactSignature({ r, s }: TransactionJson): Buffer | null {
  const scalars = Buffer.alloc(2 * SCALAR_BYTES);
  for (const [index, scalar] of [r, s].entries()) {
    const number = quantity(scalar);
    if (number === null || number === 0n) return null;
    const bytes = integerBytes(number);
    if (bytes.length > SCALAR_BYTES) return null;
    bytes.copy(scalars, (index + 1) * SCALAR_BYTES - bytes.length);
  }
  return scalars;
}

function quantity(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : null;
}
