import { isObject, toQuantity } from '@chainstead/core';
import type { PinnedHead } from '../call.ts';
import { type MethodFacts, UNLISTED } from '../methods/method-table.ts';
import { isAbsent } from '../methods/parameter.ts';

export type CallBlock =
  | number
  /** Its content never changes. */
  | 'hash'
  /** A transaction or receipt by hash. */
  | 'in-result'
  /** May change with each head, without a block number in it (a gas price). */
  | 'head'
  | 'tag'
  | 'none';

const LOGS = 'eth_getLogs';
export const BLOCK_NUMBER_METHOD = 'eth_blockNumber';
const HASH_LENGTH = 66;

export function blockOfCall(method: MethodFacts, params: readonly unknown[]): CallBlock {
  if (method.lifetime === 'immutable') return 'hash';
  if (method.name === LOGS) {
    const [filter] = params;
    if (!isObject(filter)) return 'none';
    if (!isAbsent(filter.blockHash)) return 'hash';
    const [from, to] = [blockOfBound(filter.fromBlock), blockOfBound(filter.toBlock)];
    return typeof from === 'number' && typeof to === 'number' ? Math.max(from, to) : 'tag';
  }
  if (method.blockParameter !== null) return blockOfParameter(params[method.blockParameter]);
  // The number must not be older than in another response.
  if (method.name === BLOCK_NUMBER_METHOD) return 'tag';
  if (method.lifetime === 'block') return 'in-result';
  // Its parameters may name the head, so the upstream must not lag.
  if (method.countedAs === UNLISTED) return 'tag';
  return method.lifetime === 'head' ? 'head' : 'none';
}

export function speaksOfHead(method: MethodFacts, params: readonly unknown[]): boolean {
  if (method.name === LOGS) {
    const [filter] = params;
    return isObject(filter) && isAbsent(filter.blockHash) && (isHead(filter.fromBlock) || isHead(filter.toBlock));
  }
  if (method.blockParameter === null) return false;
  const value = params[method.blockParameter];
  return isHead(numberOfBlock(value));
}

export function speaksOfPending(method: MethodFacts, params: readonly unknown[]): boolean {
  if (method.name === LOGS) {
    const [filter] = params;
    return isObject(filter) && (filter.fromBlock === 'pending' || filter.toBlock === 'pending');
  }
  const value = method.blockParameter === null ? undefined : params[method.blockParameter];
  return numberOfBlock(value) === 'pending';
}

/** Pins tags to numbers. A log range that begins above the head stays: nodes would reject it. */
export function pinParams(method: MethodFacts, params: readonly unknown[], head: PinnedHead): readonly unknown[] {
  const pinned = [...params];
  const [filter] = params;
  if (method.name === LOGS && isObject(filter)) {
    const { fromBlock, toBlock } = filter;
    const isAbove = typeof fromBlock === 'string' && Number(fromBlock) > head.latest;
    if (!isAbove) pinned[0] = { ...filter, fromBlock: pinTag(fromBlock, head), toBlock: pinTag(toBlock, head) };
  } else if (method.blockParameter !== null) {
    pinned[method.blockParameter] = pinTag(numberOfBlock(params[method.blockParameter]), head);
  }
  return pinned;
}

function pinTag(value: unknown, head: PinnedHead): unknown {
  if (isAbsent(value) || value === 'latest') return toQuantity(head.latest);
  return value === 'finalized' && head.finalized !== null ? toQuantity(head.finalized) : value;
}

function blockOfParameter(value: unknown): CallBlock {
  if (isObject(value)) {
    if (isAbsent(value.blockHash)) return blockOfParameter(value.blockNumber);
    return value.requireCanonical === true ? 'head' : 'hash';
  }
  // Pruned nodes differ in their earliest block.
  if (value === 'earliest') return 'head';
  if (typeof value !== 'string' || !value.startsWith('0x')) return 'tag';
  return value.length === HASH_LENGTH ? 'hash' : Number(value);
}

function numberOfBlock(value: unknown): unknown {
  return isObject(value) && isAbsent(value.blockHash) ? value.blockNumber : value;
}

function blockOfBound(value: unknown): CallBlock {
  return value === 'earliest' ? 0 : blockOfParameter(value);
}

function isHead(value: unknown): boolean {
  return isAbsent(value) || value === 'latest' || value === 'finalized';
}
