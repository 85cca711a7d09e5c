import type { Address, Hash, Receipt } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import type { AbiItem } from '../stream.ts';
import type { CompiledStream } from './compile-stream.ts';
import type { Match, MatchedInternalTransaction, MatchedLog, MatchedTransaction } from './match.ts';
import { type TransactionParties, transactionParties } from './transaction-parties.ts';

/** The match of a stream in progress: indexes in the block with the watched addresses that caused them. */
export interface MatchDraft {
  readonly stream: CompiledStream;
  /** Transactions whose logs are all included. */
  readonly transactionsOfAllLogs: ReadonlyMap<Hash, Iterable<Address>>;
  addLog(place: number, causes: Iterable<Address>): void;
  /** Adds the event of a log to those that the webhook describes. */
  addEvent(item: AbiItem): void;
  /** Ignored if the log already matched. */
  addLogOfTransaction(place: number, causes: Iterable<Address>): void;
  addTransaction(hash: Hash, causes: Iterable<Address>): void;
  addInternalTransfer(place: number, cause: Address): void;
  wantAllLogs(hash: Hash, causes: Iterable<Address>): void;
  /** Null without a match. */
  finish(block: WatchedBlock): Match | null;
}

export function createMatchDraft(stream: CompiledStream): MatchDraft {
  const logs = new Map<number, Set<Address>>();
  const transactions = new Map<Hash, Set<Address>>();
  const internalTransfers = new Map<number, Set<Address>>();
  const transactionsOfAllLogs = new Map<Hash, Set<Address>>();
  const events = new Map<string, AbiItem>();
  return {
    stream,
    transactionsOfAllLogs,
    addLog: (place, causes) => add(logs, place, causes),
    addEvent(item) {
      events.set(JSON.stringify(item), item);
    },
    addLogOfTransaction(place, causes) {
      if (!logs.has(place)) add(logs, place, causes);
    },
    addTransaction: (hash, causes) => add(transactions, hash, causes),
    addInternalTransfer: (place, cause) => add(internalTransfers, place, [cause]),
    wantAllLogs: (hash, causes) => add(transactionsOfAllLogs, hash, causes),
    finish(block) {
      const matched = {
        logs: finishLogs(block, logs),
        transactions: finishTransactions(block, transactions),
        internalTransactions: finishInternalTransfers(block, internalTransfers),
      };
      const items = [matched.transactions, matched.logs, matched.internalTransactions].flat();
      if (items.length === 0) return null;
      const triggeredBy = [...new Set(items.flatMap((item) => item.triggeredBy))];
      const described = events.size === 0 ? {} : { events: [...events.values()] };
      return { streamId: stream.id, ...matched, triggeredBy, ...described };
    },
  };
}

function add<Key>(map: Map<Key, Set<Address>>, key: Key, causes: Iterable<Address>): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set(causes));
  else for (const cause of causes) known.add(cause);
}

function inOrder(places: Iterable<readonly [number, Set<Address>]>): [number, Set<Address>][] {
  return Array.from(places, ([place, causes]): [number, Set<Address>] => [place, causes]).sort(([a], [b]) => a - b);
}

function finishLogs(block: WatchedBlock, places: ReadonlyMap<number, Set<Address>>): MatchedLog[] {
  return inOrder(places).flatMap(([place, causes]) => {
    const log = block.logs[place];
    if (log === undefined) return [];
    const { transactionHash, transactionIndex, logIndex, address, topics, data } = log;
    return { transactionHash, transactionIndex, logIndex, address, topics, data, triggeredBy: [...causes] };
  });
}

/** Transaction and receipt fields shown in webhooks, including the parts of the fee. */
const TRANSACTION_FIELDS = ['gas', 'gasPrice', 'nonce', 'input', 'value', 'type', 'v', 'yParity', 'r', 's'];
const RECEIPT_FIELDS = [
  'cumulativeGasUsed',
  'gasUsed',
  'contractAddress',
  'root',
  'status',
  'effectiveGasPrice',
  'l1Fee',
  'blobGasUsed',
  'blobGasPrice',
];

function finishTransactions(block: WatchedBlock, hashes: ReadonlyMap<Hash, Set<Address>>): MatchedTransaction[] {
  if (hashes.size === 0) return [];
  const receipts = new Map<Hash, Receipt>();
  for (const receipt of block.receipts)
    if (hashes.has(receipt.transactionHash)) receipts.set(receipt.transactionHash, receipt);
  const objects = block.block.transactions ?? [];
  return transactionParties(block).flatMap((parties: TransactionParties, index) => {
    const causes = hashes.get(parties.hash);
    const transaction = objects[index];
    if (causes === undefined || transaction === undefined || parties.from === null) return [];
    return {
      hash: parties.hash,
      index,
      from: parties.from,
      to: parties.to,
      transaction: pick(transaction, TRANSACTION_FIELDS),
      receipt: pick(receipts.get(parties.hash)?.raw ?? {}, RECEIPT_FIELDS),
      triggeredBy: [...causes],
    };
  });
}

function pick(json: Readonly<Record<string, unknown>>, fields: readonly string[]): Readonly<Record<string, unknown>> {
  const picked: Record<string, unknown> = {};
  for (const field of fields) if (json[field] !== undefined && json[field] !== null) picked[field] = json[field];
  return picked;
}

function finishInternalTransfers(
  block: WatchedBlock,
  places: ReadonlyMap<number, Set<Address>>,
): MatchedInternalTransaction[] {
  return inOrder(places).flatMap(([place, causes]) => {
    const transfer = block.internalTransfers?.[place];
    if (transfer === undefined) return [];
    const { transactionHash, from, to, value, gas } = transfer;
    return {
      index: place,
      transactionHash,
      from,
      to,
      value: value.toString(),
      gas: gas === null ? null : gas.toString(),
      triggeredBy: [...causes],
    };
  });
}
