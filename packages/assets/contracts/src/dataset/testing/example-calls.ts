import { createChainRegistry } from '@chainstead/chains';
import { type Address, type Hex, parseAddress } from '@chainstead/core';
import type { ExecutedTransaction, WholeBlock } from '@chainstead/sync/datasets';
import { hashOf, timestampOf } from '@chainstead/testkit';

const eth = createChainRegistry().get('eth');
/** Ethereum with all transactions. */
export const ETH_WITH_TRANSACTIONS = { ...eth, transactions: { ...eth.transactions, mode: 'all' } } as const;
export const CALLER: Address = parseAddress(`0x${'0a'.repeat(20)}`);

/** A transaction. */
export interface ExampleCall {
  readonly to: Address | null;
  readonly input: Hex;
  readonly value?: bigint;
  readonly succeeded?: boolean | null;
}

/** Returns a block with transactions, in order. */
export function blockOfCalls(number: number, calls: readonly ExampleCall[]): WholeBlock {
  const hash = hashOf(1, number);
  const header = { number, hash, parentHash: hashOf(1, number - 1), timestamp: timestampOf(number) };
  return {
    header: { ...header, logsBloom: null, receiptsRoot: null, raw: {} },
    internalTransactions: [],
    transactions: calls.map(
      ({ value = 0n, succeeded = true, ...call }, index) =>
        ({
          ...{ hash: hashOf(index + 2, number), index, from: CALLER, value, succeeded, ...call },
          raw: { hash: hashOf(index + 2, number) },
        }) as unknown as ExecutedTransaction,
    ),
  };
}
