import type { Hash } from '@chainstead/core';
import { listText } from '../rlp/rlp-text.ts';
import {
  bytes,
  type FieldText,
  fieldBytes,
  integer,
  type TransactionJson,
  UnknownFormError,
} from '../transactions/transaction-fields.ts';
import { EMPTY_TRIE_ROOT, orderedTrieRoot } from '../tries/ordered-trie.ts';

const DEPOSIT_TYPE = '0x7e';

/** EIP-4895. Null if malformed. */
export function withdrawalsRoot(withdrawals: readonly TransactionJson[]): Hash | null {
  try {
    return orderedTrieRoot(withdrawals.map((withdrawal) => fieldBytes(withdrawalText(withdrawal))));
  } catch (error) {
    if (error instanceof UnknownFormError) return null;
    throw error;
  }
}

/** @throws UnknownFormError */
export function withdrawalText({ index, validatorIndex, address, amount }: TransactionJson): FieldText {
  return listText(integer(index) + integer(validatorIndex) + bytes(address) + integer(amount));
}

/** `unchecked`: no root, or one of another meaning. @param raw without transactions */
export function checkWithdrawals(
  { withdrawals, withdrawalsRoot: root }: TransactionJson,
  first: TransactionJson | undefined,
): 'verified' | 'mismatch' | 'unchecked' {
  if (typeof root !== 'string' || !Array.isArray(withdrawals)) return 'unchecked';
  // OP Stack blocks since Isthmus have a storage root there.
  const isOpStack = first?.type === DEPOSIT_TYPE && withdrawals.length === 0;
  if (isOpStack && root.toLowerCase() !== EMPTY_TRIE_ROOT) return 'unchecked';
  return withdrawalsRoot(withdrawals) === root.toLowerCase() ? 'verified' : 'mismatch';
}
