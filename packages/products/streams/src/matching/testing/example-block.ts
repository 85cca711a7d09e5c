import type { Address, Hash, Hex, Log } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import type { InternalTransfer } from '@chainstead/sync/datasets';
import { type Abi, encodeAbiParameters, encodeEventTopics } from 'viem';
import type { AbiItem } from '../../stream.ts';

export interface ExampleTransaction {
  readonly from: Address;
  readonly to: Address | null;
  readonly logs?: readonly Pick<Log, 'address' | 'topics' | 'data'>[];
  readonly transfers?: readonly Pick<InternalTransfer, 'from' | 'to' | 'value'>[];
  readonly transaction?: Readonly<Record<string, unknown>>;
  readonly receipt?: Readonly<Record<string, unknown>>;
}

const BLOCK_HASH = `0x${'b1'.repeat(32)}` as Hash;

export function exampleHash(index: number): Hash {
  return `0x${(index + 1).toString(16).padStart(64, 'f')}` as Hash;
}

/** A block of these transactions, with all data visible to a watcher. */
export function exampleBlock(transactions: readonly ExampleTransaction[]): WatchedBlock {
  const logs = transactions.flatMap(({ logs: own = [] }, transactionIndex) =>
    own.map((log) => ({ ...log, transactionHash: exampleHash(transactionIndex), transactionIndex })),
  );
  const placed = logs.map((log, logIndex): Log => {
    return { ...log, logIndex, blockNumber: 7, blockHash: BLOCK_HASH, blockTimestamp: 1_700_000_000 };
  });
  const header = {
    number: 7,
    hash: BLOCK_HASH,
    parentHash: exampleHash(98),
    timestamp: 1_700_000_000,
    logsBloom: null,
    receiptsRoot: null,
    raw: {},
  };
  const parties = transactions.map(({ from, to }, index) => ({ hash: exampleHash(index), from, to }));
  return {
    header,
    block: {
      header,
      transactionHashes: parties.map(({ hash }) => hash),
      transactions: parties.map((party, index) => ({
        ...party,
        value: '0x0',
        ...transactions[index]?.transaction,
      })),
    },
    receipts: parties.map(({ hash, from, to }, transactionIndex) => ({
      transactionHash: hash,
      transactionIndex,
      type: 2,
      cumulativeGasUsed: 21_000n,
      logs: placed.filter((log) => log.transactionIndex === transactionIndex),
      raw: { from, to, status: '0x1', ...transactions[transactionIndex]?.receipt },
    })),
    logs: placed,
    internalTransfers: transactions.flatMap(({ transfers = [] }, index) =>
      transfers.map((transfer) => ({ ...transfer, transactionHash: exampleHash(index), gas: 21_000n })),
    ),
  };
}

/** An event encoded by an independent encoder (viem). */
export function exampleLog(
  address: Address,
  item: AbiItem,
  args: Readonly<Record<string, unknown>>,
): Pick<Log, 'address' | 'topics' | 'data'> {
  const inputs = item.inputs ?? [];
  const plain = inputs.filter((input) => input.indexed !== true);
  const topics = encodeEventTopics({ abi: [item] as Abi, eventName: item.name ?? '', args });
  return {
    address,
    topics: topics.map((topic) => String(topic) as Hash),
    data: encodeAbiParameters(
      plain,
      plain.map(({ name }) => args[name]),
    ).toLowerCase() as Hex,
  };
}
