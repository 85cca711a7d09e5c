import type { BlockHeader } from '@chainstead/core';
import { encodedLength } from '../rlp/rlp.ts';
import { listText } from '../rlp/rlp-text.ts';
import { encodeTransaction } from '../transactions/transaction-encoding.ts';
import type { TransactionJson } from '../transactions/transaction-fields.ts';
import { encodeHeader } from './header-hash.ts';
import { withdrawalText } from './withdrawals-root.ts';

const EMPTY_LIST_BYTES = 1;

/** Bytes of a block's RLP, as nodes state it. Null: it has uncles, or a header or transaction of no known encoding. */
export function blockSize(
  { raw, hash }: Pick<BlockHeader, 'raw' | 'hash'>,
  transactions: readonly TransactionJson[],
): number | null {
  const { uncles, withdrawals } = raw;
  const header = encodeHeader(raw, hash);
  if (header === null || (Array.isArray(uncles) && uncles.length > 0)) return null;
  let payload = 0;
  for (const transaction of transactions) {
    const bytes = encodeTransaction(transaction);
    if (bytes === null) return null;
    // A typed transaction is a string in the list.
    payload += isLegacy(transaction) ? bytes.length : encodedLength(bytes.length);
  }
  const paid = Array.isArray(withdrawals) ? listText(withdrawals.map(withdrawalText).join('')).length / 2 : 0;
  return encodedLength(header.length + encodedLength(payload) + EMPTY_LIST_BYTES + paid);
}

function isLegacy({ type }: TransactionJson): boolean {
  return type === undefined || type === null || type === '0x0';
}
