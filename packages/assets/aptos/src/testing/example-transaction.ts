/** Made-up transactions for tests. */
import type { AptosSlice } from '../dataset.ts';
import type { AptosChange, AptosEvent, AptosNetwork, AptosTransaction } from '../transaction.ts';

/** Returns a successful user transaction with only the given content. */
export function exampleTransaction(given: Partial<AptosTransaction>): AptosTransaction {
  return {
    type: 'user_transaction',
    version: 1_000,
    accumulatorRootHash: `0x${'5'.repeat(64)}`,
    timestamp: 1_700_000_000_123_456n,
    success: true,
    changes: [],
    events: [],
    sender: '0xabc',
    sequenceNumber: '7',
    gasUsed: '11',
    gasUnitPrice: '100',
    entryFunction: '0x1::coin::transfer',
    ...given,
  };
}

/** Returns transactions as a slice, ten versions per block. */
export function sliceOf(
  transactions: readonly AptosTransaction[],
  network: AptosNetwork = 'mainnet',
): AptosSlice {
  return { network, transactions, blockHeight: (version) => Math.floor(version / 10) };
}

/** Returns a written CoinInfo; `type` is the whole resource type, the other members are its fields. */
export function coinInfoChange({
  type = '0x1::coin::CoinInfo<0xa::m::C>',
  ...fields
}: CoinInfoFields): AptosChange {
  const data = { name: 'Coin', symbol: 'C', decimals: 8, supply: { vec: [] }, ...fields };
  return { type: 'write_resource', address: '0xa', data: { type, data } };
}

interface CoinInfoFields {
  readonly type?: string;
  readonly name?: unknown;
  readonly symbol?: unknown;
  readonly decimals?: unknown;
  readonly supply?: unknown;
}

/**
 * Returns a written CoinStore with `handle` as the owner's event handle of deposits, and the next one for withdrawals.
 */
export function coinStoreChange(owner: string, coinType: string, amount: string, handle = 2): AptosChange {
  const events = (number: number) => ({
    counter: '1',
    guid: { id: { addr: owner, creation_num: String(number) } },
  });
  const data = {
    coin: { value: amount },
    frozen: false,
    deposit_events: events(handle),
    withdraw_events: events(handle + 1),
  };
  return { type: 'write_resource', address: owner, data: { type: `0x1::coin::CoinStore<${coinType}>`, data } };
}

/** Returns a deposit or withdrawal at an event handle of an account. */
export function coinEvent(
  kind: 'Deposit' | 'Withdraw',
  account: string,
  handle: number,
  amount: string,
): AptosEvent {
  return {
    guid: { creation_number: String(handle), account_address: account },
    sequence_number: '4',
    type: `0x1::coin::${kind}Event`,
    data: { amount },
  };
}
