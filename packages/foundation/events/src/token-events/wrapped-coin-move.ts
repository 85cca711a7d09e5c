import type { Address, Log } from '@chainstead/core';
import { defineEvent } from '../decoding/index.ts';

/** WETH9 and successors. */
export const WRAPPED_COIN_DEPOSIT = defineEvent('event Deposit(address indexed account, uint256 value)');
export const WRAPPED_COIN_WITHDRAWAL = defineEvent('event Withdrawal(address indexed account, uint256 value)');

interface WrappedCoinMove {
  readonly kind: 'deposit' | 'withdrawal';
  readonly account: Address;
  readonly value: string;
}

/** Null for other events, or if the account is in no topic. */
export function decodeWrappedCoinMove(log: Pick<Log, 'topics' | 'data'>): WrappedCoinMove | null {
  const deposit = WRAPPED_COIN_DEPOSIT.readStored(log);
  if (deposit !== null) return { kind: 'deposit', ...deposit };
  const withdrawal = WRAPPED_COIN_WITHDRAWAL.readStored(log);
  return withdrawal === null ? null : { kind: 'withdrawal', ...withdrawal };
}
