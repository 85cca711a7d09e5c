import type { PinnedHead } from '../call.ts';
import type { MethodFacts } from '../method-table.ts';

/** What a call's answer depends on, as far as its lifetime is concerned. */
export type CallBlock =
  /** Nothing older or newer than this block. */
  | number
  /** A block named by hash: whatever it says stays so. */
  | 'hash'
  /** The block that is found in the result (a transaction or receipt by hash). */
  | 'in-result'
  /** Something that may change with each head, and tells nothing of its number (a gas price, a hash that must be canonical). */
  | 'head'
  /** A tag whose block only the upstream knows. */
  | 'tag'
  /** Nothing that could be kept. */
  | 'none';

const LOGS = 'eth_getLogs';
export const BLOCK_NUMBER_METHOD = 'eth_blockNumber';
const HASH_LENGTH = 66;

type Members = Readonly<Record<string, unknown>>;

/** The block that a call with these parameters is about. */
export function blockOfCall(method: MethodFacts, params: readonly unknown[]): CallBlock {
  if (method.lifetime === 'immutable') return 'hash';
  if (method.name === LOGS) return blockOfFilter(params[0]);
  if (method.blockParameter !== null) return blockOfParameter(params[method.blockParameter]);
  // A block's number must not be older than another answer's, so it is asked for each time.
  if (method.name === BLOCK_NUMBER_METHOD) return 'tag';
  if (method.lifetime === 'block') return 'in-result';
  return method.lifetime === 'head' ? 'head' : 'none';
}

/** Whether the call speaks of `latest` or `finalized`, spoken out or not. */
export function speaksOfHead(method: MethodFacts, params: readonly unknown[]): boolean {
  if (method.name === LOGS) {
    const filter = params[0];
    return isMembers(filter) && isAbsent(filter.blockHash) && (isHead(filter.fromBlock) || isHead(filter.toBlock));
  }
  if (method.blockParameter === null) return false;
  const value = params[method.blockParameter];
  return isHead(isMembers(value) ? numberOfBlock(value) : value);
}

/** Whether the call is about transactions that wait for a block. */
export function speaksOfPending(method: MethodFacts, params: readonly unknown[]): boolean {
  if (method.name === LOGS) {
    const filter = params[0];
    return isMembers(filter) && (filter.fromBlock === 'pending' || filter.toBlock === 'pending');
  }
  const value = method.blockParameter === null ? undefined : params[method.blockParameter];
  return (isMembers(value) ? numberOfBlock(value) : value) === 'pending';
}

/**
 * The parameters with numbers for `latest` and `finalized`; a `finalized` that nobody knows stays, and the end of a log
 * range that begins above the head: nodes answer that with no logs, but the same range in numbers with an error.
 */
export function pinParams(method: MethodFacts, params: readonly unknown[], head: PinnedHead): readonly unknown[] {
  const pinned = [...params];
  if (method.name === LOGS && isMembers(params[0])) {
    const { fromBlock, toBlock } = params[0];
    const isAbove = typeof fromBlock === 'string' && Number(fromBlock) > head.latest;
    if (!isAbove) pinned[0] = { ...params[0], fromBlock: pinTag(fromBlock, head), toBlock: pinTag(toBlock, head) };
  } else if (method.blockParameter !== null) {
    const value = params[method.blockParameter];
    pinned[method.blockParameter] = pinTag(isMembers(value) ? numberOfBlock(value) : value, head);
  }
  return pinned;
}

function pinTag(value: unknown, head: PinnedHead): unknown {
  if (isAbsent(value) || value === 'latest') return toHex(head.latest);
  return value === 'finalized' && head.finalized !== null ? toHex(head.finalized) : value;
}

export function toHex(number: number): string {
  return `0x${number.toString(16)}`;
}

function blockOfParameter(value: unknown): CallBlock {
  if (isMembers(value)) {
    if (isAbsent(value.blockHash)) return blockOfParameter(value.blockNumber);
    return value.requireCanonical === true ? 'head' : 'hash';
  }
  // Nodes that dropped old blocks differ in what their earliest one is.
  if (value === 'earliest') return 'head';
  if (typeof value !== 'string' || !value.startsWith('0x')) return 'tag';
  return value.length === HASH_LENGTH ? 'hash' : Number(value);
}

/** The number or tag of an EIP-1898 object, whose other member may be null; itself where it names its block by hash. */
function numberOfBlock(value: Members): unknown {
  return isAbsent(value.blockHash) ? value.blockNumber : value;
}

function blockOfFilter(filter: unknown): CallBlock {
  if (!isMembers(filter)) return 'none';
  if (!isAbsent(filter.blockHash)) return 'hash';
  const [from, to] = [blockOfBound(filter.fromBlock), blockOfBound(filter.toBlock)];
  return typeof from === 'number' && typeof to === 'number' ? Math.max(from, to) : 'tag';
}

function blockOfBound(value: unknown): CallBlock {
  return value === 'earliest' ? 0 : blockOfParameter(value);
}

function isHead(value: unknown): boolean {
  return isAbsent(value) || value === 'latest' || value === 'finalized';
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
