import { ChainsteadError } from '@chainstead/core';
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

/** No upstream gave an answer that fits the hashes and roots that it names. */
export class UnprovableAnswerError extends ChainsteadError {
  constructor(options: { method: string; wrong: ReadonlyMap<string, string>; cause: unknown }) {
    super({
      code: 'UNPROVABLE_ANSWER',
      message: `No upstream gave a provable answer to ${options.method}: ${[...options.wrong].map(([name, text]) => `${name}: ${text}`).join('; ')}`,
      facts: { method: options.method, upstreams: [...options.wrong.keys()] },
      retryable: true,
      cause: options.cause,
    });
  }
}

/** Checked answers are held whole; what is larger than this cannot be. Bytes. */
const BYTES_MAX = 128 * 1024 * 1024;
/**
 * As the pool's forward, but what can be proven is proven before it is given: headers by their hash, transactions and
 * receipts by the roots in them. An upstream whose answer does not fit is reported, and the next one asked.
 * @throws UnprovableAnswerError when no upstream gives an answer that fits; else as {@link ForwardingPool.forward}
 */
export function createStrictForward(options: {
  readonly chain: CheckableChain;
  readonly pool: ForwardingPool;
}): ForwardingPool['forward'] {
  const { chain, pool } = options;
  const integrity = createIntegrityCheck(options);
  const receipts = createReceiptsProof({ chain, forward });

  async function findWrong(call: RawCall, text: string, given: RequestOptions): Promise<Wrong | null> {
    const { method } = call;
    const params: unknown[] = JSON.parse(call.params);
    let result: unknown;
    try {
      result = JSON.parse(text);
    } catch {
      return { kind: 'not-json', text: 'the result is not JSON' };
    }
    const wrong = integrity.inspect(method, params, result);
    if (wrong !== null || result === null) return wrong;
    if (method === 'eth_getBlockReceipts' && Array.isArray(result)) return receipts.proveAll(params[0], result, given);
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
      const { timeoutMs: _timeoutMs, ...others } = given;
      const found = await findWrong(call, value.toString(), withoutBlock(others));
      if (found === null) return { value, upstream: answer.upstream };
      pool.reportFault(answer.upstream, found.kind, { method: call.method, text: found.text });
      wrong.set(answer.upstream, found.text);
    }
  }

  return (call, given = {}) => (isChecked(call.method) ? forward(call, given) : pool.forward(call, given));
}

const CHECKED = /^eth_get(?:Block(?:By(?:Hash|Number)|Receipts)|Transaction(?:By.+|Receipt))$/;

function isChecked(method: string): boolean {
  return CHECKED.test(method);
}

/** What is asked to prove an answer may come from any upstream, the one in doubt too: it is proven itself. */
function withoutBlock(given: RequestOptions): RequestOptions {
  const { minBlock: _minBlock, exclude: _exclude, only: _only, ...others } = given;
  return others;
}

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

/** The answer is larger than what is held to be checked. */
export class TooLargeToCheckError extends ChainsteadError {
  constructor(method: string) {
    super({
      code: 'TOO_LARGE_TO_CHECK',
      message: `The answer to ${method} is larger than ${BYTES_MAX} bytes and cannot be checked`,
      facts: { method, bytes_max: BYTES_MAX },
      retryable: false,
    });
  }
}
