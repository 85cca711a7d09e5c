/** A final answer stays permanently only if two upstreams return it: one may answer for another chain for a while. */
import { isDeepStrictEqual } from 'node:util';
import { isObject, JsonBoundsError, parseModestJson } from '@chainstead/core';
import type { RawResult } from '@chainstead/rpc';

/** Nodes add members, so results that name their block are compared by hash. */
export function isSameAnswer(one: Buffer, other: RawResult): boolean {
  if (!Buffer.isBuffer(other)) return false;
  if (one.equals(other)) return true;
  const [first, second] = [parse(one), parse(other)];
  return first !== undefined && second !== undefined && isDeepStrictEqual(identityOf(first), identityOf(second));
}

function identityOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(identityOf);
  if (!isObject(value)) return value;
  const { hash, parentHash, blockHash, transactionHash, logIndex } = value;
  if (typeof blockHash === 'string') return [blockHash, transactionHash ?? hash, logIndex];
  return typeof hash === 'string' && typeof parentHash === 'string' ? [hash] : value;
}

/** Undefined: not JSON, or nested too deep to compare. */
function parse(json: Buffer): unknown {
  try {
    return parseModestJson(json);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonBoundsError) return undefined;
    throw error;
  }
}
