import { type Block, type Hash, type Receipt, toQuantity } from '@chainstead/core';
import { RpcCallError, UpstreamFault } from './errors.ts';
import type { Failover } from './failover.ts';
import { blockCall, checkIdentity } from './fetch-blocks.ts';
import type { CallOutcome } from './interpret-reply.ts';
import { matchReceipts, OtherBlockError } from './match-receipts.ts';
import { runNullable } from './nullable-operation.ts';
import { parseBlock } from './parse-block.ts';
import { MalformedAnswerError } from './parse-log.ts';
import type { CallOptions } from './rpc-exchange.ts';
import type { Upstream } from './upstream.ts';
import type { Answer, RequestOptions } from './upstream-pool.ts';

/** A block and the receipts of its transactions, in its order. */
export interface BlockWithReceipts {
  block: Block;
  receipts: readonly Receipt[];
}

/** Receipts of blocks, each set checked against its block. */
export interface ReceiptFetcher {
  getReceipts(block: Block, options?: RequestOptions): Promise<Answer<readonly Receipt[]>>;
  getWholeBlock(
    at: number | Hash,
    options?: RequestOptions & { readonly transactions?: boolean },
  ): Promise<Answer<BlockWithReceipts> | null>;
  /** The same on one given upstream; null where it has no such block. @throws UpstreamFault, RpcCallError, MalformedAnswerError */
  readWhole(
    upstream: Upstream,
    at: number | Hash,
    transactions: boolean,
    options: CallOptions,
  ): Promise<BlockWithReceipts | null>;
}

const BLOCK_RECEIPTS = 'eth_getBlockReceipts';
const RECEIPT = 'eth_getTransactionReceipt';
const NULL_PATIENCE = 3;

/** Prefers `eth_getBlockReceipts`, and falls back to a call per transaction. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: both ways to read receipts share what upstreams were found to offer.
export function createReceiptFetcher(options: {
  readonly failover: Failover;
  readonly chain: { readonly receiptsRoot: string };
}): ReceiptFetcher {
  const { failover, chain } = options;

  /** One call per transaction, for those that are still missing. */
  async function oneByOne(upstream: Upstream, hashes: readonly Hash[], given: CallOptions): Promise<unknown[]> {
    const calls = hashes.map((hash) => ({ method: RECEIPT, params: [hash] }));
    const outcomes = await upstream.callMany(calls, given);
    return outcomes.map((outcome) => {
      if (outcome.ok) return outcome.result;
      throw outcome.error;
    });
  }

  /** Checks what eth_getBlockReceipts gave and fetches what it left out. */
  async function complete(
    upstream: Upstream,
    block: Block,
    list: unknown,
    given: CallOptions,
  ): Promise<readonly Receipt[]> {
    const { number } = block.header;
    if (list === null) throw upstream.fault('missing-block', BLOCK_RECEIPTS, `answered null for block ${number}`);
    if (!Array.isArray(list)) throw new MalformedAnswerError('The answer is not a list of receipts');
    const matched = matchReceipts(block, list, chain);
    if (matched.missing.length === 0) return matched.receipts;
    if (matched.missing.length === block.transactionHashes.length && list.length === 0)
      throw upstream.fault('missing-block', BLOCK_RECEIPTS, `answered [] for block ${number}, which has transactions`);
    return fillIn(upstream, block, list, matched.missing, given);
  }

  /** Chains without receipt commitments list transactions that were never executed and have no receipt (Cronos, HyperEVM). */
  async function fillIn(
    upstream: Upstream,
    block: Block,
    list: readonly unknown[],
    missing: readonly Hash[],
    given: CallOptions,
  ): Promise<readonly Receipt[]> {
    const more = await oneByOne(upstream, missing, given);
    const matched = matchReceipts(block, [...list, ...more], chain);
    const tolerated = chain.receiptsRoot !== 'ethereum' && matched.receipts.length > 0;
    if (matched.missing.length > 0 && !tolerated)
      throw upstream.fault(
        'missing-block',
        RECEIPT,
        `has no receipt of ${matched.missing[0]} in block ${block.header.number}`,
      );
    return matched.receipts;
  }

  async function readReceipts(upstream: Upstream, block: Block, given: CallOptions): Promise<readonly Receipt[]> {
    if (block.transactionHashes.length === 0 && upstream.state.lacks(BLOCK_RECEIPTS)) return [];
    if (!upstream.state.lacks(BLOCK_RECEIPTS)) {
      const [outcome] = await upstream.callMany(
        [{ method: BLOCK_RECEIPTS, params: [toQuantity(block.header.number)] }],
        given,
      );
      if (outcome !== undefined) {
        const receipts = await receiptsFrom(upstream, block, outcome, given);
        if (receipts !== null) return receipts;
      }
    }
    return fillIn(upstream, block, [], block.transactionHashes, given);
  }

  /** The receipts in an outcome of eth_getBlockReceipts; null where the upstream does not serve that method. */
  async function receiptsFrom(
    upstream: Upstream,
    block: Block,
    outcome: CallOutcome,
    given: CallOptions,
  ): Promise<readonly Receipt[] | null> {
    if (!outcome.ok) {
      if (outcome.error instanceof UpstreamFault && outcome.error.hints.reaction === 'unsupported') {
        upstream.state.capabilities.blockReceipts = false;
        return null;
      }
      throw outcome.error;
    }
    upstream.state.capabilities.blockReceipts = true;
    try {
      return await complete(upstream, block, outcome.result, given);
    } catch (error) {
      if (!(error instanceof OtherBlockError)) throw error;
      // At the head the height may hold another block by now; the hash names the one that is meant.
      return readByHash(upstream, block, error, given);
    }
  }

  async function readByHash(
    upstream: Upstream,
    block: Block,
    mismatch: OtherBlockError,
    given: CallOptions,
  ): Promise<readonly Receipt[]> {
    let list: unknown;
    try {
      list = await upstream.call(BLOCK_RECEIPTS, [block.header.hash], given);
    } catch (error) {
      if (!(error instanceof RpcCallError)) throw error;
      throw upstream.fault('missing-block', BLOCK_RECEIPTS, mismatch.message);
    }
    return complete(upstream, block, list, given);
  }

  async function readWhole(
    upstream: Upstream,
    at: number | Hash,
    transactions: boolean,
    given: CallOptions,
  ): Promise<BlockWithReceipts | null> {
    const wanted = blockCall(at, transactions);
    const together = !upstream.state.lacks(BLOCK_RECEIPTS);
    const key = typeof at === 'number' ? toQuantity(at) : at;
    const calls = together ? [wanted, { method: BLOCK_RECEIPTS, params: [key] }] : [wanted];
    const [answer, list] = await upstream.callMany(calls, given);
    if (answer === undefined || !answer.ok) throw answer?.error ?? new MalformedAnswerError('No answer for the block');
    if (answer.result === null) return null;
    const block = parseBlock(answer.result);
    checkIdentity(block.header, at);
    upstream.state.setServed(block.header.number);
    // Some nodes take no hash there: then by number, verified by hash.
    const usable = list !== undefined && (list.ok ? list.result !== null : !(list.error instanceof RpcCallError));
    const receipts = usable ? await receiptsFrom(upstream, block, list, given) : null;
    return { block, receipts: receipts ?? (await readReceipts(upstream, block, given)) };
  }

  return {
    readWhole,
    getReceipts: (block, given = {}) =>
      failover.run(
        {
          method: BLOCK_RECEIPTS,
          run: (upstream, signal) =>
            readReceipts(upstream, block, { signal, timeoutMs: given.timeoutMs, urgent: true }),
        },
        given,
      ),
    async getWholeBlock(at, given = {}) {
      const answer = await runNullable<BlockWithReceipts>(
        failover,
        {
          method: 'eth_getBlockByNumber',
          patience: NULL_PATIENCE,
          countNull: typeof at === 'number',
          ...(typeof at === 'number' ? { block: at } : {}),
          run: (upstream, signal) =>
            readWhole(upstream, at, given.transactions === true, { signal, timeoutMs: given.timeoutMs, urgent: true }),
        },
        given,
      );
      return answer.value === null ? null : { value: answer.value, upstream: answer.upstream };
    },
  };
}
