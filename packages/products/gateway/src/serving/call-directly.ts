import type { Chain } from '@chainstead/chains';
import { ChainsteadError } from '@chainstead/core';
import { spendNodeCalls } from '@chainstead/http';
import type { RawResult } from '@chainstead/rpc';
import { isOwnFailure, type RpcErrorObject } from '../protocol/rpc-errors.ts';
import type { AnswerRequest } from './answer-request.ts';
import { OpenScope, type ServedChain } from './open-scope.ts';

export interface DirectCall {
  readonly chain: Pick<Chain, 'id'>;
  readonly method: string;
  readonly params: readonly unknown[];
  readonly keyId: string;
  readonly timeoutMs: number;
  /** Longest useful result, as JSON. */
  readonly bytesMax: number;
}

/** `unavailable`: no upstream responded in time. `too-long`: above `bytesMax`. */
export type DirectAnswer =
  | { readonly kind: 'result'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: RpcErrorObject }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number }
  | { readonly kind: 'unavailable' | 'not-offered' | 'too-long' };

/** Limited, cached and counted as for clients. Never rejects for a node's error. */
export type CallDirectly = (call: DirectCall) => Promise<DirectAnswer>;

export function createDirectCalls(chains: Iterable<ServedChain>, answerRequest: AnswerRequest): CallDirectly {
  const byId = new Map([...chains].map((served) => [served.chain.chain.id, served]));
  return async ({ chain, method, params, keyId, timeoutMs, bytesMax }) => {
    const served = byId.get(chain.id);
    if (served === undefined) return { kind: 'not-offered' };
    const waitMs = await spendNodeCalls(1);
    if (waitMs > 0) return { kind: 'rate-limited', retryAfterMs: waitMs };
    const scope = new OpenScope(served.chain, timeoutMs);
    try {
      const context = { served, scope, keyId, subscriber: null };
      const answered = await answerRequest({ id: 'null', method, params }, context);
      const { outcome, refusal, retryAfterMs } = answered;
      if (refusal === 'rate-limited') return { kind: 'rate-limited', retryAfterMs };
      if (!outcome.ok)
        return isOwnFailure(outcome.error, served.chain.slug)
          ? { kind: 'unavailable' }
          : { kind: 'error', error: outcome.error };
      const text = await wholeText(outcome.result, bytesMax);
      if (text === null) return { kind: 'too-long' };
      answered.addBytes(text.length);
      return { kind: 'result', value: JSON.parse(text.toString()) };
    } catch (error) {
      if (error instanceof ChainsteadError && error.retryable) return { kind: 'unavailable' };
      throw error;
    } finally {
      scope.end();
    }
  };
}

async function wholeText(result: RawResult, bytesMax: number): Promise<Buffer | null> {
  if (Buffer.isBuffer(result)) return result.length > bytesMax ? null : result;
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of result) {
    bytes += piece.length;
    if (bytes > bytesMax) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes);
}
