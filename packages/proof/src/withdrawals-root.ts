import type { Hash } from '@chainstead/core';
import { EMPTY_TRIE_ROOT, orderedTrieRoot } from './ordered-trie.ts';
import { listText } from './rlp-text.ts';
import { bytes, fieldBytes, integer, type TransactionJson, UnknownFormError } from './transaction-fields.ts';

const DEPOSIT_TYPE = '0x7e';

/** The withdrawals root (EIP-4895) of a block's withdrawals as nodes answer them. Null where one has another form. */
export function withdrawalsRoot(withdrawals: readonly TransactionJson[]): Hash | null {
  try {
    return orderedTrieRoot(
      withdrawals.map(({ index, validatorIndex, address, amount }) =>
        fieldBytes(listText(integer(index) + integer(validatorIndex) + bytes(address) + integer(amount))),
      ),
    );
  } catch (error) {
    if (error instanceof UnknownFormError) return null;
    throw error;
  }
}

/**
 * Whether the withdrawals of a block are those that its header commits to. `unchecked`: it has none, or means something else by its root.
 * @param raw the block's JSON without transactions
 * @param first its first transaction
 */
export function checkWithdrawals(
  { withdrawals, withdrawalsRoot: root }: TransactionJson,
  first: TransactionJson | undefined,
): 'verified' | 'mismatch' | 'unchecked' {
  if (typeof root !== 'string' || !Array.isArray(withdrawals)) return 'unchecked';
  // Since its Isthmus fork the OP Stack, whose blocks begin with a deposit, has a storage root there and never withdrawals.
  const isOpStack = first?.type === DEPOSIT_TYPE && withdrawals.length === 0;
  if (isOpStack && root.toLowerCase() !== EMPTY_TRIE_ROOT) return 'unchecked';
  return withdrawalsRoot(withdrawals) === root.toLowerCase() ? 'verified' : 'mismatch';
}
