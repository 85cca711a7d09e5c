import { type Hash, keccak256Hex } from '@chainstead/core';
import { byteText, listText } from '../rlp/rlp-text.ts';
import { type FieldText, fieldBytes, type TransactionJson, UnknownFormError } from './transaction-fields.ts';
import { TRANSACTION_TYPES, type TransactionType, writeMembers } from './transaction-types.ts';

/** Legacy, EIP-2930, EIP-1559, EIP-4844, EIP-7702. */
const ETHEREUM_TYPE_MAX = 4;

/** Mantle's deposits hash these too. */
const FOREIGN_FIELDS = ['ethValue', 'ethTxValue'] as const;

/** EIP-2718; keccak-256 is the hash. Null if type or form is unknown. */
export function encodeTransaction(transaction: TransactionJson): Buffer | null {
  return encoded(transaction, ({ members }) => members);
}

export type TransactionHashCheck =
  | { readonly result: 'verified'; readonly bytes: Buffer }
  | { readonly result: 'mismatch'; readonly computed: Hash }
  | { readonly result: 'malformed' }
  | { readonly result: 'unknown' };

export function checkTransactionHash(transaction: TransactionJson): TransactionHashCheck {
  const bytes = encodeTransaction(transaction);
  const type = transactionType(transaction);
  if (bytes === null) return { result: isEthereumType(type) ? 'malformed' : 'unknown' };
  const computed = keccak256Hex(bytes);
  const { hash } = transaction;
  if (hash === computed || (typeof hash === 'string' && hash.toLowerCase() === computed))
    return { result: 'verified', bytes };
  const isSettled = TRANSACTION_TYPES.get(type ?? 0)?.isSettled === true;
  return isSettled ? { result: 'mismatch', computed } : { result: 'unknown' };
}

export function encodeUnsigned(transaction: TransactionJson, after: FieldText = ''): Buffer | null {
  return encoded(transaction, ({ fields, members }) => (fields.length === members.length ? null : fields), after);
}

export function namesSender(transaction: TransactionJson): boolean {
  return typeOf(transaction)?.namesSender === true;
}

export function isEthereumType(type: number | null): boolean {
  return type !== null && type >= 0 && type <= ETHEREUM_TYPE_MAX;
}

/** Null if no number. Old transactions lack the type. */
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

function encoded(
  transaction: TransactionJson,
  membersOf: (type: TransactionType) => TransactionType['members'] | null,
  after: FieldText = '',
): Buffer | null {
  const type = typeOf(transaction);
  const members = type === undefined ? null : membersOf(type);
  if (members === null) return null;
  try {
    const fields = writeMembers(members, transaction) + after;
    const number = transactionType(transaction) ?? 0;
    return fieldBytes(number === 0 ? listText(fields) : byteText(number) + listText(fields));
  } catch (error) {
    if (error instanceof UnknownFormError) return null;
    throw error;
  }
}
