import type { PinnedHead } from '../call.ts';
import { type MethodFacts, UNLISTED } from '../methods/method-table.ts';

/** The block that a call's result depends on, which decides how long it can be cached. */
export type CallBlock =
  /** Exactly this block. */
  | number
  /** A block given by hash: its content never changes. */
  | 'hash'
  /** The block is in the result (a transaction or receipt by hash). */
  | 'in-result'
  /** May change with each head and does not contain its block number (a gas price, a hash that must be canonical). */
  | 'head'
  /** A tag whose block only the upstream knows. */
  | 'tag'
  /** Nothing that could be cached. */
  | 'none';

const LOGS = 'eth_getLogs';
export const BLOCK_NUMBER_METHOD = 'eth_blockNumber';
const HASH_LENGTH = 66;

type Members = Readonly<Record<string, unknown>>;

/** Returns the block that a call with these parameters depends on. */
export function blockOfCall(method: MethodFacts, params: readonly unknown[]): CallBlock {
  if (method.lifetime === 'immutable') return 'hash';
  if (method.name === LOGS) return blockOfFilter(params[0]);
  if (method.blockParameter !== null) return blockOfParameter(params[method.blockParameter]);
  // A block number must not be older than in another response, so it is requested each time.
  if (method.name === BLOCK_NUMBER_METHOD) return 'tag';
  if (method.lifetime === 'block') return 'in-result';
  // Its parameters may name the head, so the upstream must not lag.
  if (method.countedAs === UNLISTED) return 'tag';
  return method.lifetime === 'head' ? 'head' : 'none';
}

/** Whether the call refers to `latest` or `finalized`, explicitly or by default. */
export function speaksOfHead(method: MethodFacts, params: readonly unknown[]): boolean {
  if (method.name === LOGS) {
    const filter = params[0];
    return isMembers(filter) && isAbsent(filter.blockHash) && (isHead(filter.fromBlock) || isHead(filter.toBlock));
  }
  if (method.blockParameter === null) return false;
  const value = params[method.blockParameter];
  return isHead(isMembers(value) ? numberOfBlock(value) : value);
}

/** Whether the call is about pending transactions. */
export function speaksOfPending(method: MethodFacts, params: readonly unknown[]): boolean {
  if (method.name === LOGS) {
    const filter = params[0];
    return isMembers(filter) && (filter.fromBlock === 'pending' || filter.toBlock === 'pending');
  }
  const value = method.blockParameter === null ? undefined : params[method.blockParameter];
  return (isMembers(value) ? numberOfBlock(value) : value) === 'pending';
}

/**
 * Replaces `latest` and `finalized` in the parameters by numbers. Two values stay: an unknown `finalized`, and the end
 * of a log range that begins above the head, for which nodes return no logs but would reject the same range in numbers.
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
  // Pruned nodes differ in their earliest block.
  if (value === 'earliest') return 'head';
  if (typeof value !== 'string' || !value.startsWith('0x')) return 'tag';
  return value.length === HASH_LENGTH ? 'hash' : Number(value);
}

/**
 * Returns the number or tag of an EIP-1898 object, whose other member may be null; the object if it has a block hash.
 */
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
