import { type AnswerCache, CACHED_RESULT_MAX } from '../cache/answer-cache.ts';
import { blockInResult } from '../cache/block-in-result.ts';
import type { MethodFacts } from '../methods/method-table.ts';
import type { CallBlock } from './call-block.ts';

/** State before the request was sent: a block that became final meanwhile may differ. */
export interface ChainMoment {
  readonly generation: number;
  readonly finalBlock: number | null;
}

export interface CachedCall {
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
