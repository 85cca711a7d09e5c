import { toQuantity } from '@chainstead/core';
import { LIST_BASE } from '../rlp/rlp.ts';
import { isEthereumType } from './transaction-encoding.ts';
import type { TransactionJson } from './transaction-fields.ts';
import { readMembers, TRANSACTION_TYPES } from './transaction-types.ts';

export const EIP155_FIRST_V = 35n;

/** The reverse of `encodeTransaction` for types 0 to 4; no place, hash or sender. Null: another type or form. */
export function decodeTransaction(encoded: Buffer): TransactionJson | null {
  const type = envelopeType(encoded);
  const members = type === null || !isEthereumType(type) ? undefined : TRANSACTION_TYPES.get(type)?.members;
  if (type === null || members === undefined) return null;
  const read = readMembers(members, type === 0 ? encoded : encoded.subarray(1));
  if (read === null) return null;
  if (type !== 0) return { ...read, type: toQuantity(type), v: read.yParity };
  const v = BigInt(String(read.v));
  const chain = v < EIP155_FIRST_V ? {} : { chainId: toQuantity((v - EIP155_FIRST_V) / 2n) };
  return { ...read, type: '0x0', ...chain };
}

/** EIP-2718; null: empty. */
export function envelopeType(encoded: Buffer): number | null {
  const [first] = encoded;
  if (first === undefined) return null;
  return first < LIST_BASE ? first : 0;
}
