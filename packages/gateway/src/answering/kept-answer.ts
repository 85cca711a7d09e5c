import { type AnswerCache, CACHED_RESULT_MAX } from '../cache/answer-cache.ts';
import { blockInResult } from '../cache/block-in-result.ts';
import type { MethodFacts } from '../method-table.ts';
import type { CallBlock } from './call-block.ts';

/** What was known of the chain before the answer was asked for: what became final meanwhile may be another block. */
export interface ChainMoment {
  readonly generation: number;
  readonly finalBlock: number | null;
}

/** A call on its way to the cache. */
export interface KeptCall {
  readonly chain: { readonly id: number; readonly blockTimeMs: number };
  readonly method: MethodFacts;
  readonly key: string;
  readonly block: CallBlock;
}

/** A gas price is no older than this, milliseconds. */
const PRICE_MAX_MS = 1_000;
/** Some nodes answer so about a block that they don't know. */
const EMPTY_LIST = '[]';

/** Keeps a result as long as it stays true; null not at all. */
export function keepAnswer(cache: AnswerCache, call: KeptCall, result: Buffer, moment: ChainMoment): void {
  const { chain, method, key, block } = call;
  if (!isKeepable(method, block) || result.length > CACHED_RESULT_MAX || isText(result, 'null')) return;
  if (isForGood(block, result, moment.finalBlock)) cache.keepForGood(chain.id, key, result);
  else if (block !== 'in-result' || blockInResult(result, 'blockNumber') !== null)
    cache.keepUntilNextHead(key, result, moment.generation, isPrice(method) ? priceMs(chain) : undefined);
}

/** Whether answers to such a call are kept at all. */
export function isKeepable(method: MethodFacts, block: CallBlock): boolean {
  return method.lifetime !== 'never' && block !== 'tag' && block !== 'none';
}

/** Whether the answer may be in what processes share. */
export function mayBeStored(method: MethodFacts, block: CallBlock, finalBlock: number | null): boolean {
  if (typeof block === 'number') return method.lifetime !== 'never' && finalBlock !== null && block <= finalBlock;
  return block === 'hash' || block === 'in-result';
}

function isForGood(block: CallBlock, result: Buffer, finalBlock: number | null): boolean {
  if (block === 'hash') return !isText(result, EMPTY_LIST);
  const number = block === 'in-result' ? blockInResult(result, 'blockNumber') : block;
  return typeof number === 'number' && finalBlock !== null && number <= finalBlock;
}

/**
 * The newest block that an answer tells of, where it may be newer than what `latest` means; null where it tells of none.
 * A client that has seen a receipt expects its block behind `latest`.
 */
export function blockTold(method: MethodFacts, block: CallBlock, result: Buffer): number | null {
  if (isText(result, 'null')) return null;
  if (method.name === 'eth_getLogs') return blockInResult(result, 'blockNumber', 'last');
  if (typeof block === 'number') return block;
  if (method.name === 'eth_getBlockByHash') return blockInResult(result, 'number');
  return block === 'hash' || block === 'in-result' ? blockInResult(result, 'blockNumber') : null;
}

function isPrice(method: MethodFacts): boolean {
  return method.lifetime === 'head';
}

function priceMs(chain: { readonly blockTimeMs: number }): number {
  return Math.min(chain.blockTimeMs, PRICE_MAX_MS);
}

/** What a client is told: logs that every upstream writes as null are a list without any. Such an answer is never kept. */
export function toldAnswer(method: Pick<MethodFacts, 'name'>, result: Buffer): Buffer {
  return method.name === 'eth_getLogs' && isText(result, 'null') ? Buffer.from(EMPTY_LIST) : result;
}

export function isText(result: Buffer, text: string): boolean {
  return result.length === text.length && result.toString('latin1') === text;
}
