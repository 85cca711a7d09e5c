import type { Address, Hash, Log } from '@chainstead/core';
import { addressAt, decimalAt } from '../abi/index.ts';
import { WORD_LENGTH } from './topics.ts';

interface WrappedCoinMove {
  readonly kind: 'deposit' | 'withdrawal';
  readonly account: Address;
  readonly value: string;
}

/** WETH9 and successors. Null for other events, or if the account is in no topic. */
export function decodeWrappedCoinMove({ topics, data }: Pick<Log, 'topics' | 'data'>): WrappedCoinMove | null {
  const [topic0, second] = topics;
  if (topic0 !== DEPOSIT_TOPIC && topic0 !== WITHDRAWAL_TOPIC) return null;
  const account = addressAt(second);
  if (account === null || topics.length !== 2 || data.length !== WORD_LENGTH) return null;
  return { kind: topic0 === DEPOSIT_TOPIC ? 'deposit' : 'withdrawal', account, value: decimalAt(data) };
}

/** `Deposit(address,uint256)` and `Withdrawal(address,uint256)`. */
export const DEPOSIT_TOPIC = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c' as Hash;
export const WITHDRAWAL_TOPIC = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65' as Hash;
