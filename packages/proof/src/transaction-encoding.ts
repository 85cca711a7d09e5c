import { type Hash, keccak256Hex } from '@chainstead/core';
import { byteText, listText } from './rlp-text.ts';
import { type FieldText, fieldBytes, type TransactionJson, UnknownFormError } from './transaction-fields.ts';
import { TRANSACTION_TYPES, type TransactionType } from './transaction-types.ts';

/** Of Ethereum itself: legacy, EIP-2930, EIP-1559, EIP-4844, EIP-7702. */
const ETHEREUM_TYPE_MAX = 4;

/** Fields that Mantle's deposits are hashed with beside those of the OP Stack, in a form of its own. */
const FOREIGN_FIELDS = ['ethValue', 'ethTxValue'] as const;

/**
 * The bytes of a transaction as the transactions' trie holds them (EIP-2718), whose keccak-256 is its hash. Null where
 * its type or form is not known: of zkSync, Polygon's state sync and others.
 */
export function encodeTransaction(transaction: TransactionJson): Buffer | null {
  return encoded(transaction, (type) => type.fields(transaction) + (type.signature?.(transaction) ?? ''));
}

/** What the fields of a transaction say of its hash. */
export type TransactionHashCheck =
  /** They hash to it. */
  | { readonly result: 'verified'; readonly bytes: Buffer }
  | { readonly result: 'mismatch'; readonly computed: Hash }
  /** A field of a type that every node shows whole is missing, or has another form. */
  | { readonly result: 'malformed' }
  /** The encoding is not known. */
  | { readonly result: 'unknown' };

/** Whether a transaction's `hash` is that of its other fields. */
export function checkTransactionHash(transaction: TransactionJson): TransactionHashCheck {
  const bytes = encodeTransaction(transaction);
  const type = transactionType(transaction);
  if (bytes === null) return { result: isEthereumType(type) ? 'malformed' : 'unknown' };
  const computed = keccak256Hex(bytes);
  const { hash } = transaction;
  if (hash === computed || (typeof hash === 'string' && hash.toLowerCase() === computed))
    return { result: 'verified', bytes };
  return TRANSACTION_TYPES.get(type ?? 0)?.isSettled === true
    ? { result: 'mismatch', computed }
    : { result: 'unknown' };
}

/** What the sender of a transaction signed, before it is hashed. Null where its type carries no signature, or is not known. */
export function encodeUnsigned(transaction: TransactionJson, after: FieldText = ''): Buffer | null {
  return encoded(transaction, (type) => (type.signature === null ? null : type.fields(transaction) + after));
}

/** Whether the encoding names the sender, so that the hash commits to it. */
export function namesSender(transaction: TransactionJson): boolean {
  return typeOf(transaction)?.namesSender === true;
}

/** Whether every node shows enough of a transaction of this type to encode it. */
export function isEthereumType(type: number | null): boolean {
  return type !== null && type >= 0 && type <= ETHEREUM_TYPE_MAX;
}

/** The EIP-2718 type, null where it is not a number. Nodes leave the type of old transactions out. */
export function transactionType({ type }: TransactionJson): number | null {
  if (type === undefined || type === null) return 0;
  const number = typeof type === 'string' || typeof type === 'number' ? Number(type) : Number.NaN;
  return Number.isInteger(number) ? number : null;
}

function typeOf(transaction: TransactionJson): TransactionType | undefined {
  if (FOREIGN_FIELDS.some((field) => transaction[field] !== undefined)) return undefined;
  const type = transactionType(transaction);
  return type === null ? undefined : TRANSACTION_TYPES.get(type);
}

function encoded(transaction: TransactionJson, fieldsOf: (type: TransactionType) => FieldText | null): Buffer | null {
  const type = typeOf(transaction);
  if (type === undefined) return null;
  try {
    const fields = fieldsOf(type);
    if (fields === null) return null;
    const number = transactionType(transaction) ?? 0;
    return fieldBytes(number === 0 ? listText(fields) : byteText(number) + listText(fields));
  } catch (error) {
    if (error instanceof UnknownFormError) return null;
    throw error;
  }
}
