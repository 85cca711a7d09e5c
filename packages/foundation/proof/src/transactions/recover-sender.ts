import { type Address, isAddress, keccak256, keccak256Hex, parseAddress, toQuantity } from '@chainstead/core';
import { encodeList, encodeString, integerBytes } from '../rlp/rlp.ts';
import { hexToBytes } from '../rlp/rlp-text.ts';
import {
  packSignatures,
  type RecoverSigners,
  recoverSigners,
  type Signature,
  signer,
  signerAt,
} from '../signatures/packed-signatures.ts';
import { encodeUnsigned, namesSender, transactionType } from './transaction-encoding.ts';
import { integer, nothing, type TransactionJson } from './transaction-fields.ts';

type SenderCheck =
  | { readonly result: 'verified' }
  | { readonly result: 'mismatch'; readonly recovered: Address }
  | { readonly result: 'unchecked' };

const SCALAR_DIGITS = 64;
const SCALAR = /^0x0*([1-9a-f][0-9a-f]{0,63})$/i;
/** Bridges sign for accounts without key with small numbers; real signatures never have them. */
const REAL_SCALAR_MIN = 2n ** 64n;

/** Needs a proven hash. Never throws for a node's data. */
export function checkSender(transaction: TransactionJson): SenderCheck {
  const signature = senderSignature(transaction);
  if (signature !== null) return compareSender(transaction, signer(signature));
  return { result: isAddress(transaction.from) && namesSender(transaction) ? 'verified' : 'unchecked' };
}

/** Null: no signature, or no key matches. */
export function recoverSender(transaction: TransactionJson): Address | null {
  const signature = signatureOf(transaction);
  return signature === null ? null : signer(signature);
}

/** Null: no signature or `from`, or the encoding has the sender. */
export function senderSignature(transaction: TransactionJson): Signature | null {
  return !isAddress(transaction.from) || namesSender(transaction) ? null : signatureOf(transaction);
}

/** @param recovered by {@link senderSignature}; null: no key matches */
export function compareSender({ from, r, s }: TransactionJson, recovered: Address | null): SenderCheck {
  if (recovered === null) return { result: 'unchecked' };
  if (recovered === parseAddress(from)) return { result: 'verified' };
  const isReal = [r, s].every((scalar) => BigInt(String(scalar)) >= REAL_SCALAR_MIN);
  return isReal ? { result: 'mismatch', recovered } : { result: 'unchecked' };
}

/** Null: unsigned, or no valid form. */
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

function compactSignature({ r, s }: TransactionJson): Buffer | null {
  const [first, second] = [scalarDigits(r), scalarDigits(s)];
  return first === null || second === null ? null : Buffer.from(first + second, 'hex');
}

/** Null: zero, or no number of 32 bytes. */
function scalarDigits(value: unknown): string | null {
  const digits = typeof value === 'string' ? SCALAR.exec(value)?.[1] : undefined;
  return digits === undefined ? null : digits.padStart(SCALAR_DIGITS, '0');
}

function quantity(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : null;
}

/** Null: unsigned, or no key matches. @param recover @default here */
export async function recoverSenders(
  transactions: readonly TransactionJson[],
  recover: RecoverSigners = async (signatures) => recoverSigners(signatures),
): Promise<readonly (Address | null)[]> {
  const signatures = transactions.map(signatureOf);
  const present = signatures.filter((signature) => signature !== null);
  if (present.length === 0) return signatures.map(() => null);
  const signers = await recover(packSignatures(present));
  let index = 0;
  return signatures.map((signature) => (signature === null ? null : signerAt(signers, index++)));
}

const HASH_DIGITS_BEFORE_ADDRESS = 26;

/** Last 20 bytes of keccak256(RLP [sender, nonce]). */
export function createdContract(sender: Address, nonce: bigint): Address {
  const preimage = encodeList([encodeString(hexToBytes(sender)), encodeString(integerBytes(nonce))]);
  return `0x${keccak256Hex(preimage).slice(HASH_DIGITS_BEFORE_ADDRESS)}` as Address;
}
