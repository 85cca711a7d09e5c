import { type Address, isAddress, keccak256, parseAddress, toQuantity } from '@chainstead/core';
import { encodeList, encodeString, integerBytes } from '../rlp/rlp.ts';
import { hexToBytes } from '../rlp/rlp-text.ts';
import {
  hashedAddress,
  packSignatures,
  type RecoverSigners,
  recoverHere,
  type Signature,
  signer,
  signerAt,
} from '../signatures/packed-signatures.ts';
import { EIP155_FIRST_V } from './decode-transaction.ts';
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
  const { v, yParity } = transaction;
  const isLegacy = transactionType(transaction) === 0;
  const given = isLegacy ? v : (yParity ?? v);
  const number = typeof given === 'string' && /^0x[0-9a-f]+$/i.test(given) ? BigInt(given) : null;
  const [r, s] = [scalarDigits(transaction.r), scalarDigits(transaction.s)];
  if (number === null || r === null || s === null) return null;
  const eip155 = isLegacy && number >= EIP155_FIRST_V ? number - EIP155_FIRST_V : null;
  const after = eip155 === null ? '' : integer(toQuantity(eip155 / 2n)) + nothing() + nothing();
  const parity = eip155 === null ? number - (isLegacy ? LEGACY_FIRST_V : 0n) : eip155 % 2n;
  const bytes = encodeUnsigned(transaction, after);
  if (bytes === null || (parity !== 0n && parity !== 1n)) return null;
  return { hash: keccak256(bytes), scalars: Buffer.from(r + s, 'hex'), parity: parity === 0n ? 0 : 1 };
}

const LEGACY_FIRST_V = 27n;

/** Null: zero, or no number of 32 bytes. */
function scalarDigits(value: unknown): string | null {
  const digits = typeof value === 'string' ? SCALAR.exec(value)?.[1] : undefined;
  return digits === undefined ? null : digits.padStart(SCALAR_DIGITS, '0');
}

/** Null: unsigned, or no key matches. @param recover @default here */
export async function recoverSenders(
  transactions: readonly TransactionJson[],
  recover: RecoverSigners = recoverHere,
): Promise<readonly (Address | null)[]> {
  const signatures = transactions.map(signatureOf);
  const present = signatures.filter((signature) => signature !== null);
  if (present.length === 0) return signatures.map(() => null);
  const signers = await recover(packSignatures(present));
  let index = 0;
  return signatures.map((signature) => (signature === null ? null : signerAt(signers, index++)));
}

/** Of RLP [sender, nonce]. */
export function createdContract(sender: Address, nonce: bigint): Address {
  return hashedAddress(encodeList([encodeString(hexToBytes(sender)), encodeString(integerBytes(nonce))]));
}
