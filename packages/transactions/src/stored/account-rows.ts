import { type Address, type ChainId, ZERO_ADDRESS } from '@chainstead/core';
import { addressKey } from '@chainstead/db/address-key';
import type { ExecutedTransaction } from '@chainstead/sync';
import { statusOf } from '../records/transaction-outcome.ts';
import { type AccountTransactionRow, ROLES } from './schema.ts';
import { transactionKey } from './transaction-key.ts';

/** The rows of a transaction's accounts: sender, receiver and the contract that it created, each once. None of the zero address, which is nobody's. */
export function accountRows(
  executed: ExecutedTransaction,
  blockNumber: number,
  chainId: ChainId,
): readonly AccountTransactionRow[] {
  const key = transactionKey(executed.hash);
  return [...rolesIn(executed)].map(([account, roles]) => ({
    accountKey: addressKey(account),
    chainId,
    transactionKey: key,
    blockNumber,
    transactionIndex: executed.index,
    evidence: 0,
    roles,
    account,
  }));
}

/** Nothing is created by what failed, whatever address nodes name. */
function rolesIn(executed: ExecutedTransaction): ReadonlyMap<Address, number> {
  const { from, to, contractAddress } = executed;
  const roles = new Map<Address, number>();
  const add = (account: Address | null, role: number): void => {
    if (account !== null && account !== ZERO_ADDRESS) roles.set(account, (roles.get(account) ?? 0) | role);
  };
  add(from, ROLES.sender);
  add(to, ROLES.receiver);
  if (statusOf(executed) !== 0) add(contractAddress, ROLES.created);
  return roles;
}
