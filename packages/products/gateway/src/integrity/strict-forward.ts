import { defineError, type Hash, JsonBoundsError, parseModestJson, type Receipt } from '@chainstead/core';
import { encodeReceipt, receiptsRoot } from '@chainstead/proof';
import {
  type Answer,
  type ForwardingPool,
  parseHeader,
  parseReceipt,
  type RawCall,
  type RawResult,
  type RequestOptions,
  RpcCallError,
  UpstreamsExhaustedError,
} from '@chainstead/rpc';
import { LRUCache } from 'lru-cache';
import { type CheckableChain, createIntegrityCheck, type Wrong } from './integrity-check.ts';

class UnprovableAnswerError extends defineError(
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

class TooLargeToCheckError extends defineError('TOO_LARGE_TO_CHECK', (method: string) => ({
  message: `The response to ${method} is larger than ${BYTES_MAX} bytes and cannot be verified`,
  facts: { method, bytes_max: BYTES_MAX },
})) {}

/** Clients request receipts one by one. */
const PROVEN_BLOCKS = 64;

type ProvenReceipts = ReadonlyMap<Hash, Buffer>;

/** @param options.forward returns proven responses; passes receipts to `proveAll` first */
function createReceiptsProof({
  chain,
  forward,
}: {
  readonly chain: CheckableChain;
  readonly forward: (call: RawCall, given: RequestOptions) => Promise<Answer<Buffer>>;
}) {
  const provenBlocks = new LRUCache<Hash, ProvenReceipts>({ max: PROVEN_BLOCKS });

  async function readHeader(hash: Hash, given: RequestOptions) {
    const params = JSON.stringify([hash, false]);
    const call = { method: 'eth_getBlockByHash', params, nullable: true, block: null };
    const { value } = await forward(call, given);
    const json: unknown = JSON.parse(value.toString());
    return json === null ? null : parseHeader(json);
  }

  async function proveAll(at: unknown, json: readonly unknown[], given: RequestOptions): Promise<Wrong | null> {
    if (chain.receiptsRoot === 'none') return null;
    const receipts = json.map(parseReceipt);
    const named = receipts[0]?.raw.blockHash ?? at;
    if (typeof named !== 'string' || named.length !== 66) return null;
    const blockHash = named.toLowerCase() as Hash;
    const header = await readHeader(blockHash, given);
    if (header === null)
      return { kind: 'malformed', text: `the receipts are of block ${blockHash}, which is unknown` };
    if (header.receiptsRoot === null) return null;
    const context = { encoding: chain.receiptsRoot, blockNumber: header.number, blockHash };
    const root = receiptsRoot(receipts, context);
    if (root !== header.receiptsRoot) {
      const text = `the receipts have root ${root}, the header ${header.receiptsRoot}`;
      return { kind: 'receipts-root-mismatch', text };
    }
    const encoded = receipts.map(
      (receipt) => [receipt.transactionHash, encodeReceipt(receipt, 'computed')] as const,
    );
    provenBlocks.set(blockHash, new Map(encoded));
    return null;
  }

  async function proveOne(receipt: Receipt, given: RequestOptions): Promise<Wrong | null> {
    if (chain.receiptsRoot === 'none') return null;
    const { blockHash, blockNumber } = receipt.raw;
    if (typeof blockHash !== 'string' || typeof blockNumber !== 'string')
      return { kind: 'malformed', text: 'the receipt names no block' };
    const hash = blockHash.toLowerCase() as Hash;
    if (!provenBlocks.has(hash)) {
      const params = JSON.stringify([blockNumber]);
      const call = { method: 'eth_getBlockReceipts', params, nullable: true, block: Number(blockNumber) };
      try {
        await forward(call, given);
      } catch (error) {
        // No upstream has the method: only the receipt's own consistency can be checked.
        if (error instanceof RpcCallError) return null;
        throw error;
      }
    }
    const proven = provenBlocks.get(hash)?.get(receipt.transactionHash);
    if (proven?.equals(encodeReceipt(receipt, 'computed')) === true) return null;
    const text = `block ${hash} holds no such receipt of ${receipt.transactionHash}`;
    return { kind: 'receipts-root-mismatch', text };
  }

  return { proveAll, proveOne };
}
