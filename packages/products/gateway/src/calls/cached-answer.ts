import { isObject, toQuantity } from '@chainstead/core';
import { type AnswerCache, CACHED_RESULT_MAX } from '../cache/answer-cache.ts';
import { blockInResult } from '../cache/call-key.ts';
import type { PinnedHead } from '../call.ts';
import { type MethodFacts, UNLISTED } from '../methods/method-table.ts';
import { isAbsent } from '../methods/values.ts';

/** State before the request was sent: a block that became final meanwhile may differ. */
interface ChainMoment {
  readonly generation: number;
  readonly finalBlock: number | null;
}

interface CachedCall {
  readonly chain: { readonly id: number; readonly blockTimeMs: number };
  readonly method: MethodFacts;
  readonly key: string;
  readonly block: CallBlock;
}

const PRICE_MAX_MS = 1_000;
/** Some nodes return it for a block they don't have. */
const EMPTY_LIST = '[]';

/**
 * Caches a result as long as it stays true, and never null.
 * @param isConfirmed another upstream returned it, or there is none
 * @returns whether it stays permanently once it is confirmed
 */
export function keepAnswer(
  cache: AnswerCache,
  call: CachedCall,
  result: Buffer,
  moment: ChainMoment,
  isConfirmed: boolean,
): boolean {
  const { chain, method, key, block } = call;
  if (!isKeepable(method, block) || result.length > CACHED_RESULT_MAX || isText(result, 'null')) return false;
  const number = block === 'in-result' ? blockInResult(result, 'blockNumber') : block;
  const isFinal = typeof number === 'number' && moment.finalBlock !== null && number <= moment.finalBlock;
  // Invariant: PROOF-SAME-CHAIN
  if (block === 'hash' ? !isText(result, EMPTY_LIST) : isFinal && isConfirmed)
    cache.keepForGood(chain.id, key, result);
  else if (number !== null)
    cache.keepUntilNextHead(
      key,
      result,
      moment.generation,
      method.lifetime === 'head' ? Math.min(chain.blockTimeMs, PRICE_MAX_MS) : undefined,
    );
  return isFinal && !isConfirmed && block !== 'hash';
}

export function isKeepable(method: MethodFacts, block: CallBlock): boolean {
  return method.lifetime !== 'never' && block !== 'tag' && block !== 'none';
}

export function mayBeStored(method: MethodFacts, block: CallBlock, finalBlock: number | null): boolean {
  if (typeof block === 'number') return method.lifetime !== 'never' && finalBlock !== null && block <= finalBlock;
  return block === 'hash' || block === 'in-result';
}

/** Null: none. `latest` must include the block: a client with a receipt expects it. */
export function blockReported(method: MethodFacts, block: CallBlock, result: Buffer): number | null {
  if (isText(result, 'null')) return null;
  if (method.name === 'eth_getLogs') return blockInResult(result, 'blockNumber', 'last');
  if (typeof block === 'number') return block;
  if (method.name === 'eth_getBlockByHash') return blockInResult(result, 'number');
  return block === 'hash' || block === 'in-result' ? blockInResult(result, 'blockNumber') : null;
}

/** An empty list if every upstream returns null for logs. Never cached. */
export function reportedAnswer(method: Pick<MethodFacts, 'name'>, result: Buffer): Buffer {
  return method.name === 'eth_getLogs' && isText(result, 'null') ? Buffer.from(EMPTY_LIST) : result;
}

export function isText(result: Buffer, text: string): boolean {
  return result.length === text.length && result.toString('latin1') === text;
}

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
