import type { BlockHeader } from '@chainstead/core';
import { encodedLength } from '../rlp/rlp.ts';
import { listText } from '../rlp/rlp-text.ts';
import { encodeTransaction } from '../transactions/transaction-encoding.ts';
import {
  bytes,
  type FieldText,
  fieldBytes,
  integer,
  type TransactionJson,
  UnknownFormError,
} from '../transactions/transaction-fields.ts';
import { EMPTY_TRIE_ROOT, orderedTrieRoot } from '../tries/ordered-trie.ts';
import { encodeHeader } from './header-hash.ts';

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
    payload += (transaction.type ?? '0x0') === '0x0' ? bytes.length : encodedLength(bytes.length);
  }
  const paid = Array.isArray(withdrawals) ? listText(withdrawals.map(withdrawalText).join('')).length / 2 : 0;
  return encodedLength(header.length + encodedLength(payload) + EMPTY_LIST_BYTES + paid);
}

const DEPOSIT_TYPE = '0x7e';

/** @throws UnknownFormError */
function withdrawalText({ index, validatorIndex, address, amount }: TransactionJson): FieldText {
  return listText(integer(index) + integer(validatorIndex) + bytes(address) + integer(amount));
}

/** EIP-4895. `unchecked`: no root, or one of another meaning. @param raw without transactions */
export function checkWithdrawals(
  { withdrawals, withdrawalsRoot: root }: TransactionJson,
  first: TransactionJson | undefined,
): 'verified' | 'mismatch' | 'unchecked' {
  if (typeof root !== 'string' || !Array.isArray(withdrawals)) return 'unchecked';
  // OP Stack blocks since Isthmus have a storage root there.
  const isOpStack = first?.type === DEPOSIT_TYPE && withdrawals.length === 0;
  if (isOpStack && root.toLowerCase() !== EMPTY_TRIE_ROOT) return 'unchecked';
  try {
    const computed = orderedTrieRoot(withdrawals.map((withdrawal) => fieldBytes(withdrawalText(withdrawal))));
    return computed === root.toLowerCase() ? 'verified' : 'mismatch';
  } catch (error) {
    if (error instanceof UnknownFormError) return 'mismatch';
    throw error;
  }
}
