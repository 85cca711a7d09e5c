import { type ExecutedJson, feeParts, feesOf } from '@chainstead/chains/fees';
import {
  type Address,
  type ChainId,
  getOrCompute,
  type Hash,
  isQuantity,
  parseBigQuantity,
  type Receipt,
} from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import type { AbiItem } from '../stream.ts';
import type { CompiledStream } from './compile-stream.ts';
import type { Match, MatchedInternalTransaction, MatchedLog, MatchedTransaction } from './match.ts';
import { type TransactionParties, transactionParties } from './transaction-parties.ts';
import { UNITS_PER_ITEM, type WorkBudget } from './work-budget.ts';

export type BlockDrafts = ReturnType<typeof createBlockDrafts>;

/** If the items of a key, or of the block, exceed the budget, the stream with the most items of its key is deferred. */
export function createBlockDrafts({ perKey, perBlock, admitsOne = false }: WorkBudget) {
  const drafts = new Map<string, MatchDraft>();
  const keys = new Map<string, { items: number; readonly drafts: Set<MatchDraft> }>();
  const deferred = new Set<CompiledStream>();
  const [keyMax, blockMax] = [perKey / UNITS_PER_ITEM, perBlock / UNITS_PER_ITEM];
  let total = 0;

  function added(stream: CompiledStream, items: number): void {
    const ofKey = keys.get(stream.key);
    if (ofKey === undefined || deferred.has(stream)) return;
    total += items;
    ofKey.items += items;
    if (ofKey.items > keyMax) deferLargest(ofKey);
    else if (total > blockMax)
      deferLargest([...keys.values()].reduce((most, one) => (one.items > most.items ? one : most)));
  }

  function deferLargest(ofKey: { items: number; readonly drafts: Set<MatchDraft> }): void {
    const [first, ...others] = ofKey.drafts;
    if (first === undefined || (admitsOne && drafts.size === 1)) return;
    const largest = others.reduce((most, one) => (one.items() > most.items() ? one : most), first);
    ofKey.drafts.delete(largest);
    ofKey.items -= largest.items();
    total -= largest.items();
    drafts.delete(largest.stream.id);
    deferred.add(largest.stream);
  }

  return {
    deferred,
    all: () => drafts.values(),
    /** Null: deferred. */
    of(stream: CompiledStream): MatchDraft | null {
      if (deferred.has(stream)) return null;
      return getOrCompute(drafts, stream.id, () => {
        const draft = createMatchDraft(stream, (items) => added(stream, items));
        getOrCompute(keys, stream.key, () => ({ items: 0, drafts: new Set<MatchDraft>() })).drafts.add(draft);
        return draft;
      });
    },
  };
}

export type MatchDraft = ReturnType<typeof createMatchDraft>;

/** @param onAdded gets the number of items and causes */
function createMatchDraft(stream: CompiledStream, onAdded: (items: number) => void) {
  let items = 0;
  const add = <Key>(map: Map<Key, Set<Address>>, key: Key, causes: Iterable<Address>): void => {
    const before = map.get(key);
    const addresses = before ?? new Set();
    const known = addresses.size;
    for (const cause of causes) addresses.add(cause);
    if (before === undefined) map.set(key, addresses);
    const more = addresses.size - known + (before === undefined ? 1 : 0);
    items += more;
    if (more > 0) onAdded(more);
  };
  const logs = new Map<number, Set<Address>>();
  const transactions = new Map<Hash, Set<Address>>();
  const internalTransfers = new Map<number, Set<Address>>();
  const transactionsOfAllLogs = new Map<Hash, Set<Address>>();
  const events = new Map<string, AbiItem>();
  return {
    stream,
    items: () => items,
    transactionsOfAllLogs,
    addLog: (index: number, causes: Iterable<Address>) => add(logs, index, causes),
    addEvent: (item: AbiItem) => void events.set(JSON.stringify(item), item),
    addLogOfTransaction(index: number, causes: Iterable<Address>): void {
      if (!logs.has(index)) add(logs, index, causes);
    },
    addTransaction: (hash: Hash, causes: Iterable<Address>) => add(transactions, hash, causes),
    addInternalTransfer: (index: number, cause: Address) => add(internalTransfers, index, [cause]),
    wantAllLogs: (hash: Hash, causes: Iterable<Address>) => add(transactionsOfAllLogs, hash, causes),
    finish(block: WatchedBlock, chainId: ChainId): Match | null {
      const matched = {
        logs: finishLogs(block, logs),
        transactions: finishTransactions(block, transactions, chainId),
        internalTransactions: finishInternalTransfers(block, internalTransfers),
      };
      const all = [matched.transactions, matched.logs, matched.internalTransactions].flat();
      if (all.length === 0) return null;
      const triggeredBy = [...new Set(all.flatMap((item) => item.triggeredBy))];
      const described = events.size === 0 ? {} : { events: [...events.values()] };
      return { streamId: stream.id, ...matched, triggeredBy, ...described };
    },
  };
}

type Causes = ReadonlyMap<number, Set<Address>>;

function inOrder(causes: Causes): [number, Set<Address>][] {
  return [...causes].sort(([a], [b]) => a - b);
}

function finishLogs(block: WatchedBlock, indexes: Causes): MatchedLog[] {
  return inOrder(indexes).flatMap(([index, causes]) => {
    const log = block.logs[index];
    if (log === undefined) return [];
    const { transactionHash, transactionIndex, logIndex, address, topics, data } = log;
    return { transactionHash, transactionIndex, logIndex, address, topics, data, triggeredBy: [...causes] };
  });
}

const TRANSACTION_FIELDS = ['gas', 'gasPrice', 'nonce', 'input', 'value', 'type', 'v', 'yParity', 'r', 's'];
const RECEIPT_FIELDS = ['cumulativeGasUsed', 'gasUsed', 'contractAddress', 'root', 'status', 'effectiveGasPrice'];

function finishTransactions(
  block: WatchedBlock,
  hashes: ReadonlyMap<Hash, Set<Address>>,
  chainId: ChainId,
): MatchedTransaction[] {
  if (hashes.size === 0) return [];
  const receipts = new Map<Hash, Receipt>();
  for (const receipt of block.receipts)
    if (hashes.has(receipt.transactionHash)) receipts.set(receipt.transactionHash, receipt);
  const objects = block.block.transactions ?? [];
  return transactionParties(block).flatMap((parties: TransactionParties, index) => {
    const causes = hashes.get(parties.hash);
    const transaction = objects[index];
    if (causes === undefined || transaction === undefined || parties.from === null) return [];
    const receipt = receipts.get(parties.hash)?.raw ?? {};
    return {
      hash: parties.hash,
      index,
      from: parties.from,
      to: parties.to,
      transaction: pick(transaction, TRANSACTION_FIELDS),
      receipt: pick(receipt, RECEIPT_FIELDS),
      fee: feePaid({ transaction, receipt, header: block.header.raw }, chainId),
      triggeredBy: [...causes],
    };
  });
}

/** Wei, with blobs. Null: unknown gas or price. */
function feePaid(executed: ExecutedJson, id: ChainId): string | null {
  const { gasUsed } = executed.receipt;
  const parts = feeParts(executed, { id });
  if (!isQuantity(gasUsed) || parts.gasPrice === null) return null;
  const { fee, blobFee } = feesOf(parseBigQuantity(gasUsed), parts);
  return (fee + (blobFee ?? 0n)).toString();
}

function pick(
  json: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    fields.map((field) => [field, json[field]]).filter(([, value]) => value !== undefined && value !== null),
  );
}

function finishInternalTransfers(block: WatchedBlock, indexes: Causes): MatchedInternalTransaction[] {
  return inOrder(indexes).flatMap(([index, causes]) => {
    const transfer = block.internalTransfers?.[index];
    if (transfer === undefined) return [];
    const { transactionHash, from, to, value, gas } = transfer;
    const amounts = { value: value.toString(), gas: gas === null ? null : gas.toString() };
    return { index, transactionHash, from, to, ...amounts, triggeredBy: [...causes] };
  });
}
