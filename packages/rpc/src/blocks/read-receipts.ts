import { type Block, type Hash, type Receipt, toQuantity } from '@chainstead/core';
import { RpcCallError, UpstreamFault } from '../errors.ts';
import { matchReceipts, OtherBlockError } from '../formats/match-receipts.ts';
import { parseBlock } from '../formats/parse-block.ts';
import { MalformedAnswerError } from '../formats/parse-log.ts';
import type { CallOutcome } from '../transport/interpret-reply.ts';
import type { CallOptions } from '../transport/rpc-exchange.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { blockCall, checkIdentity } from './fetch-blocks.ts';

/** A block and the receipts of its transactions, in transaction order. */
export interface BlockWithReceipts {
  block: Block;
  receipts: readonly Receipt[];
}

/** The block whose receipts are read, and the upstream to read them from. */
export interface ReceiptsReading {
  readonly chain: { readonly receiptsRoot: string };
  readonly upstream: Upstream;
  readonly block: Block;
  readonly given: CallOptions;
  /**
   * Upstreams that returned no receipt list for the block. Others are tried before receipts are read from these one by
   * one. Absent: there is no other upstream.
   */
  readonly withoutList?: Set<string> | undefined;
}

export interface WholeBlockOptions extends CallOptions {
  /** Whether to request transaction objects, not only their hashes. */
  readonly transactions?: boolean | undefined;
}

export const BLOCK_RECEIPTS = 'eth_getBlockReceipts';
const RECEIPT = 'eth_getTransactionReceipt';

/**
 * Reads receipts with `eth_getBlockReceipts`, or one call per transaction if the upstream lacks that method.
 * @throws UpstreamFault, RpcCallError, MalformedAnswerError
 */
export async function readReceipts(reading: ReceiptsReading): Promise<readonly Receipt[]> {
  const { upstream, block, given } = reading;
  if (block.transactionHashes.length === 0 && upstream.state.lacks(BLOCK_RECEIPTS)) return [];
  if (!upstream.state.lacks(BLOCK_RECEIPTS)) {
    const [outcome] = await upstream.callMany(
      [{ method: BLOCK_RECEIPTS, params: [toQuantity(block.header.number)] }],
      given,
    );
    if (outcome !== undefined) {
      const receipts = await receiptsFrom(reading, outcome);
      if (receipts !== null) return receipts;
    }
  }
  return fillIn(reading, [], block.transactionHashes);
}

/**
 * Reads a block and its receipts in one batch; null if the upstream has no such block.
 * @throws as {@link readReceipts}
 */
export async function readWhole(
  { chain, upstream, withoutList }: Pick<ReceiptsReading, 'chain' | 'upstream' | 'withoutList'>,
  at: number | Hash,
  { transactions, ...given }: WholeBlockOptions,
): Promise<BlockWithReceipts | null> {
  const wanted = blockCall(at, { transactions });
  const together = !upstream.state.lacks(BLOCK_RECEIPTS);
  const key = typeof at === 'number' ? toQuantity(at) : at;
  const calls = together ? [wanted, { method: BLOCK_RECEIPTS, params: [key] }] : [wanted];
  const [answer, list] = await upstream.callMany(calls, given);
  if (answer === undefined || !answer.ok) throw answer?.error ?? new MalformedAnswerError('No answer for the block');
  if (answer.result === null) return null;
  const block = parseBlock(answer.result);
  checkIdentity(block.header, at);
  upstream.state.setServed(block.header.number);
  const reading = { chain, upstream, withoutList, block, given };
  // Some nodes accept no hash here. Then receipts are requested by number and verified by hash.
  const usable = list !== undefined && (list.ok ? list.result !== null : !(list.error instanceof RpcCallError));
  const receipts = usable ? await receiptsFrom(reading, list) : null;
  // The promises that awaited this response are in V8's old generation and keep it in memory until a full collection.
  if (list?.ok === true && Array.isArray(list.result)) list.result.length = 0;
  return { block, receipts: receipts ?? (await readReceipts(reading)) };
}

/** Returns the receipts of an eth_getBlockReceipts response; null if the upstream does not support that method. */
async function receiptsFrom(reading: ReceiptsReading, outcome: CallOutcome): Promise<readonly Receipt[] | null> {
  const { capabilities } = reading.upstream.state;
  if (!outcome.ok) {
    if (outcome.error instanceof UpstreamFault && outcome.error.hints.reaction === 'unsupported') {
      capabilities.blockReceipts = false;
      return null;
    }
    throw outcome.error;
  }
  capabilities.blockReceipts = true;
  try {
    return await complete(reading, outcome.result);
  } catch (error) {
    if (!(error instanceof OtherBlockError)) throw error;
    // At the head, this height may hold another block by now. The hash identifies the requested one.
    return readByHash(reading, error);
  }
}

async function readByHash(reading: ReceiptsReading, mismatch: OtherBlockError): Promise<readonly Receipt[]> {
  const { upstream, block, given } = reading;
  let list: unknown;
  try {
    list = await upstream.call(BLOCK_RECEIPTS, [block.header.hash], given);
  } catch (error) {
    if (!(error instanceof RpcCallError)) throw error;
    throw upstream.fault('missing-block', BLOCK_RECEIPTS, mismatch.message);
  }
  return complete(reading, list);
}

/**
 * Checks an eth_getBlockReceipts response and fetches missing receipts. For a block without transactions, `null` means
 * no receipts.
 */
async function complete(reading: ReceiptsReading, list: unknown): Promise<readonly Receipt[]> {
  const { chain, block } = reading;
  if (list === null) return block.transactionHashes.length === 0 ? [] : readEach(reading, 'null');
  if (!Array.isArray(list)) throw new MalformedAnswerError('The response is not a list of receipts');
  const matched = matchReceipts(block, list, chain);
  if (matched.missing.length === 0) return matched.receipts;
  if (matched.missing.length === block.transactionHashes.length && list.length === 0) return readEach(reading, '[]');
  return fillIn(reading, list, matched.missing);
}

/**
 * Reads receipts one by one from a node that has the block but not the list. The first is requested alone: at the head,
 * a node without the list often lacks the block too.
 */
async function readEach(reading: ReceiptsReading, answered: string): Promise<readonly Receipt[]> {
  const { upstream, block, given, withoutList } = reading;
  const { capabilities } = upstream.state;
  const isFirst = withoutList !== undefined && !withoutList.has(upstream.name);
  withoutList?.add(upstream.name);
  const [first, ...others] = block.transactionHashes;
  const [outcome] =
    isFirst || first === undefined ? [] : await upstream.callMany([{ method: RECEIPT, params: [first] }], given);
  if (outcome?.ok !== true || outcome.result === null) {
    const text = `answered ${answered} for block ${block.header.number}, which has transactions`;
    throw upstream.fault('missing-block', BLOCK_RECEIPTS, text);
  }
  const receipts = await fillIn(reading, [outcome.result], others);
  capabilities.blockReceipts = false;
  return receipts;
}

/**
 * Chains without receipt commitments list transactions that were never executed and have no receipt (Cronos, HyperEVM).
 */
async function fillIn(
  reading: ReceiptsReading,
  list: readonly unknown[],
  missing: readonly Hash[],
): Promise<readonly Receipt[]> {
  const { chain, upstream, block } = reading;
  const more = await oneByOne(reading, missing);
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

/** Sends one call for each missing receipt. */
async function oneByOne({ upstream, given }: ReceiptsReading, hashes: readonly Hash[]): Promise<unknown[]> {
  const calls = hashes.map((hash) => ({ method: RECEIPT, params: [hash] }));
  const outcomes = await upstream.callMany(calls, given);
  return outcomes.map((outcome) => {
    if (outcome.ok) return outcome.result;
    throw outcome.error;
  });
}
