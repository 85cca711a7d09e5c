import { defineError, JsonBoundsError, parseModestJson } from '@chainstead/core';
import {
  type Answer,
  type ForwardingPool,
  parseReceipt,
  type RawCall,
  type RawResult,
  type RequestOptions,
  UpstreamsExhaustedError,
} from '@chainstead/rpc';
import { type CheckableChain, createIntegrityCheck, type Wrong } from './integrity-check.ts';
import { createReceiptsProof } from './receipts-proof.ts';

export class UnprovableAnswerError extends defineError(
  'UNPROVABLE_ANSWER',
  (options: { method: string; wrong: ReadonlyMap<string, string>; cause: unknown }) => ({
    message: `No upstream returned a provable response to ${options.method}: ${[...options.wrong].map(([name, text]) => `${name}: ${text}`).join('; ')}`,
    facts: { method: options.method, upstreams: [...options.wrong.keys()] },
    retryable: true,
    cause: options.cause,
  }),
) {}

const BYTES_MAX = 128 * 1024 * 1024;
/**
 * Proves headers by hash, transactions and receipts by root; else tries the next upstream.
 * @throws UnprovableAnswerError if none is valid; otherwise as {@link ForwardingPool.forward}
 */
export function createStrictForward(options: {
  readonly chain: CheckableChain;
  readonly pool: ForwardingPool;
}): ForwardingPool['forward'] {
  const { chain, pool } = options;
  const integrity = createIntegrityCheck(options);
  const receipts = createReceiptsProof({ chain, forward });

  async function findWrong(call: RawCall, json: Buffer, options: RequestOptions): Promise<Wrong | null> {
    const { method } = call;
    // Any upstream may provide proof data: it is proven too.
    const { timeoutMs: _timeoutMs, minBlock: _minBlock, exclude: _exclude, only: _only, ...given } = options;
    const params: unknown[] = JSON.parse(call.params);
    let result: unknown;
    try {
      // Invariant: HTTP-BODY-BOUNDED
      result = parseModestJson(json);
    } catch (error) {
      if (error instanceof JsonBoundsError) return { kind: 'malformed', text: error.message };
      return { kind: 'not-json', text: 'the result is not JSON' };
    }
    const wrong = integrity.inspect(method, params, result);
    if (wrong !== null || result === null) return wrong;
    if (method === 'eth_getBlockReceipts' && Array.isArray(result))
      return receipts.proveAll(params[0], result, given);
    return method === 'eth_getTransactionReceipt' ? receipts.proveOne(parseReceipt(result), given) : null;
  }

  async function forward(call: RawCall, given: RequestOptions = {}): Promise<Answer<Buffer>> {
    const wrong = new Map<string, string>();
    for (;;) {
      const exclude = wrong.size === 0 ? given.exclude : new Set([...(given.exclude ?? []), ...wrong.keys()]);
      let answer: Answer<RawResult>;
      try {
        answer = await pool.forward(call, exclude === undefined ? given : { ...given, exclude });
      } catch (error) {
        if (wrong.size > 0 && error instanceof UpstreamsExhaustedError)
          throw new UnprovableAnswerError({ method: call.method, wrong, cause: error });
        throw error;
      }
      const value = await whole(answer.value, call.method);
      const fault = await findWrong(call, value, given);
      if (fault === null) return { value, upstream: answer.upstream };
      pool.reportFault(answer.upstream, fault.kind, { method: call.method, text: fault.text });
      wrong.set(answer.upstream, fault.text);
    }
  }

  return (call, given = {}) => (CHECKED.test(call.method) ? forward(call, given) : pool.forward(call, given));
}

const CHECKED = /^eth_get(?:Block(?:By(?:Hash|Number)|Receipts)|Transaction(?:By.+|Receipt))$/;

async function whole(result: RawResult, method: string): Promise<Buffer> {
  if (Buffer.isBuffer(result)) return result;
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of result) {
    size += piece.length;
    if (size > BYTES_MAX) throw new TooLargeToCheckError(method);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

export class TooLargeToCheckError extends defineError('TOO_LARGE_TO_CHECK', (method: string) => ({
  message: `The response to ${method} is larger than ${BYTES_MAX} bytes and cannot be verified`,
  facts: { method, bytes_max: BYTES_MAX },
})) {}
