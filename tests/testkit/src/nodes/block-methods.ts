import { type RpcHandler, type RpcReply, rpcError } from '../json-rpc/json-rpc-reply.ts';
import type { JsonObject, SourceBlock } from './chain-source.ts';
import type { ChainView } from './chain-view.ts';
import { shownLogs } from './shown-logs.ts';

/** Blocks, transactions and receipts. */
export function blockMethods(view: ChainView): ReadonlyMap<string, RpcHandler> {
  return new Map<string, RpcHandler>([
    ['eth_getBlockByNumber', ([at, full]) => blockByNumber(view, at, full === true)],
    ['eth_getBlockByHash', ([hash, full]) => shown(view, view.blockByHash(String(hash)), full === true)],
    ['eth_getBlockReceipts', ([at]) => blockReceipts(view, at)],
    ['eth_getTransactionReceipt', ([hash]) => transactionReceipt(view, String(hash))],
    ['eth_getTransactionByHash', ([hash]) => transaction(view, String(hash))],
    ['eth_getTransactionByBlockNumberAndIndex', ([at, index]) => transactionAt(blockOf(view, at), index)],
    ['eth_getTransactionByBlockHashAndIndex', ([hash, index]) => transactionAt(blockOf(view, hash), index)],
    ['eth_getBlockTransactionCountByNumber', ([at]) => ({ result: countOf(blockOf(view, at)) })],
    ['eth_getBlockTransactionCountByHash', ([hash]) => ({ result: countOf(blockOf(view, hash)) })],
  ]);
}

function blockByNumber(view: ChainView, at: unknown, full: boolean): RpcReply {
  const number = view.resolve(at);
  if (number === undefined) return rpcError(-32602, 'invalid argument 0: hex string without 0x prefix');
  if (number === null) return rpcError(-39001, 'unknown block');
  if (at !== 'latest') return shown(view, view.blockAt(number), full);
  const invented = view.inventedHead();
  if (invented !== null) return { result: { ...invented, transactions: [] } };
  // Asked by tag the newest block is given even by a node that then answers null for it by number.
  return shown(view, view.source.blockAt(view.head), full);
}

function shown(view: ChainView, block: SourceBlock | undefined, full: boolean): RpcReply {
  if (block === undefined) return { result: null };
  if (view.isPruned(block.number) && view.faults.settings.prunedBelow?.style === 'error')
    return prunedError(view, block.number);
  const transactions = full ? block.transactions : block.transactions.map((one) => one.hash);
  return { result: { ...block.header, transactions } };
}

function blockReceipts(view: ChainView, at: unknown): RpcReply {
  if (view.faults.settings.noBlockReceipts)
    return rpcError(-32601, 'the method eth_getBlockReceipts does not exist/is not available');
  const block = blockOf(view, at);
  if (block === undefined) return { result: null };
  if (view.isPruned(block.number))
    return view.faults.settings.prunedBelow?.style === 'error'
      ? prunedError(view, block.number)
      : { result: null };
  return { result: block.receipts.map((receipt) => shownReceipt(view, receipt)) };
}

/** A block by number, tag, hash, or an object with either (EIP-1898). */
function blockOf(view: ChainView, at: unknown): SourceBlock | undefined {
  if (typeof at === 'object' && at !== null) {
    const { blockHash, blockNumber } = at as JsonObject;
    return blockOf(view, blockHash ?? blockNumber);
  }
  if (typeof at === 'string' && at.length === 66) return view.blockByHash(at);
  return view.blockAt(view.resolve(at) ?? -1);
}

function transactionAt(block: SourceBlock | undefined, index: unknown): RpcReply {
  return { result: block?.transactions[Number(index)] ?? null };
}

function transactionReceipt(view: ChainView, hash: string): RpcReply {
  const block = view.source.blockOfTransaction(hash.toLowerCase());
  if (block === undefined || view.blockAt(block.number) === undefined) return { result: null };
  if (view.isPruned(block.number))
    return view.faults.settings.prunedBelow?.style === 'error'
      ? prunedError(view, block.number)
      : { result: null };
  const receipt = block.receipts.find((one) => one.transactionHash === hash.toLowerCase());
  return { result: receipt === undefined ? null : shownReceipt(view, receipt) };
}

function transaction(view: ChainView, hash: string): RpcReply {
  const block = view.source.blockOfTransaction(hash.toLowerCase());
  if (block === undefined || view.blockAt(block.number) === undefined) return { result: null };
  return { result: block.transactions.find((one) => one.hash === hash.toLowerCase()) ?? null };
}

function shownReceipt(view: ChainView, receipt: JsonObject): JsonObject {
  const logs = receipt.logs as readonly JsonObject[];
  const left = shownLogs(view.faults, 'receipts', logs);
  return left === logs ? receipt : { ...receipt, logs: left };
}

function countOf(block: SourceBlock | undefined): string | null {
  return block === undefined ? null : `0x${block.transactions.length.toString(16)}`;
}

/** What geth and reth answer for pruned history. */
export function prunedError(view: ChainView, number: number): RpcReply {
  const earliest = view.faults.settings.prunedBelow?.block ?? 0;
  return rpcError(4444, `pruned history unavailable: requested ${number}, earliest available ${earliest}`);
}
