import type { Chain } from '@chainstead/chains';
import { type Block, type Hash, type Receipt, toQuantity } from '@chainstead/core';
import { isAboutSize, isCutOff, RpcCallError, UpstreamFault } from '../errors.ts';
import { parseBlock } from '../formats/parse-block.ts';
import { MalformedAnswerError } from '../formats/parse-log.ts';
import { matchReceipts, OtherBlockError } from '../formats/parse-receipt.ts';
import { isEmptyBloom } from '../formats/standard-form.ts';
import type { CallOutcome } from '../transport/interpret-reply.ts';
import type { CallOptions } from '../transport/rpc-exchange.ts';
import { blockCall, checkIdentity } from './fetch-blocks.ts';
import { BlockSize, readInParts, type SizedReading } from './read-in-parts.ts';

export interface FetchedBlock {
  block: Block;
  receipts: readonly Receipt[];
}

export interface EarlierAttempts {
  /** No list for the block: others come before single reads. */
  readonly withoutList: Set<string>;
  readonly cutOff: Set<string>;
}

export function startReading(): EarlierAttempts {
  return { withoutList: new Set(), cutOff: new Set() };
}

export interface ReceiptsReading extends SizedReading {
  readonly chain: Pick<Chain, 'key' | 'receiptsRoot'>;
  readonly block: Block;
  readonly earlier?: EarlierAttempts | undefined;
}

interface WholeReading extends CallOptions {
  readonly transactions?: boolean | undefined;
  readonly bytesMax?: number | undefined;
  readonly isLarge?: boolean | undefined;
}

export const BLOCK_RECEIPTS = 'eth_getBlockReceipts';
const RECEIPT = 'eth_getTransactionReceipt';
const TRANSACTION = 'eth_getTransactionByHash';
const BATCH_BYTES_MAX = 8 * 1024 * 1024;

/** @throws UpstreamFault, RpcCallError, MalformedAnswerError */
export async function readReceipts(reading: ReceiptsReading): Promise<readonly Receipt[]> {
  const { upstream, block, given } = reading;
  if (upstream.state.lacks(BLOCK_RECEIPTS)) {
    if (block.transactionHashes.length === 0) return fillIn(reading, [], []);
  } else {
    const call = { method: BLOCK_RECEIPTS, params: [toQuantity(block.header.number)] };
    const [outcome] = await upstream.callMany([call], given);
    const receipts = outcome === undefined ? null : await receiptsFrom(reading, outcome);
    if (receipts !== null) return receipts;
  }
  return fillIn(reading, [], block.transactionHashes);
}

/** Null: no such block. @throws as {@link readReceipts}; BlockTooLargeError above `bytesMax` */
export async function readWhole(
  { chain, upstream, earlier }: Pick<ReceiptsReading, 'chain' | 'upstream' | 'earlier'>,
  at: number | Hash,
  { transactions, bytesMax, isLarge = false, ...options }: WholeReading,
): Promise<FetchedBlock | null> {
  const given = bytesMax === undefined ? options : { ...options, bytesMax };
  const reading = { chain, upstream, earlier, given, size: new BlockSize(at, upstream, bytesMax) };
  const wanted = blockCall(at, { transactions });
  // Apart: if one is cut off again, it is too large, and the upstream not unreachable.
  const together =
    !isLarge && !upstream.state.lacks(BLOCK_RECEIPTS) && earlier?.cutOff.has(upstream.name) !== true;
  const key = typeof at === 'number' ? toQuantity(at) : at;
  const calls = together ? [wanted, { method: BLOCK_RECEIPTS, params: [key] }] : [wanted];
  const [answer, list] = await upstream.callMany(calls, given);
  if (answer === undefined) throw new MalformedAnswerError('No answer for the block');
  const json = answer.ok
    ? answer.result
    : await readBodyInParts(reading, at, { transactions, error: answer.error });
  if (json === null) return null;
  const block = parseBlock(json);
  checkIdentity(block.header, at);
  upstream.state.setServed(block.header.number);
  // Some nodes accept no hash: receipts are requested by number, verified by hash.
  const usable = list !== undefined && (list.ok ? list.result !== null : !(list.error instanceof RpcCallError));
  const ofBlock = { ...reading, block };
  const receipts = usable ? await receiptsFrom(ofBlock, list) : null;
  // The awaiting promises in V8's old generation would keep this response until a full collection.
  if (list?.ok === true && Array.isArray(list.result)) list.result.length = 0;
  return { block, receipts: receipts ?? (await readReceipts(ofBlock)) };
}

async function readBodyInParts(
  reading: Omit<ReceiptsReading, 'block'>,
  at: number | Hash,
  { transactions, error }: { readonly transactions: boolean | undefined; readonly error: Error },
): Promise<unknown> {
  const { upstream, given } = reading;
  if (!isTooLarge(reading, error) || transactions !== true) throw error;
  const { method, params } = blockCall(at);
  const json = await upstream.call(method, params, given);
  if (json === null) return null;
  const { transactionHashes } = parseBlock(json);
  const objects = await readInParts(reading, TRANSACTION, transactionHashes);
  const missing = objects.indexOf(null);
  if (missing >= 0) throw upstream.fault('missing-block', TRANSACTION, `has no ${transactionHashes[missing]}`);
  const { transactionHashes: read } = parseBlock({ ...(json as object), transactions: objects });
  if (read.some((hash, index) => hash !== transactionHashes[index]))
    throw new MalformedAnswerError('A transaction is not the requested one');
  return { ...(json as object), transactions: objects };
}

/** A cut-off response counts if it repeats. @throws BlockTooLargeError */
function isTooLarge(reading: Omit<ReceiptsReading, 'block'>, error: Error): boolean {
  const { upstream, earlier, size } = reading;
  if (isAboutSize(error)) {
    if (size.mayBeCut(error)) return true;
    throw size.refusal(reading, error.method);
  }
  if (!isCutOff(error) || earlier === undefined) return false;
  if (earlier.cutOff.has(upstream.name)) return true;
  earlier.cutOff.add(upstream.name);
  return false;
}

async function receiptsFrom(reading: ReceiptsReading, outcome: CallOutcome): Promise<readonly Receipt[] | null> {
  const { capabilities } = reading.upstream.state;
  if (!outcome.ok) {
    if (outcome.error instanceof UpstreamFault && outcome.error.hints.reaction === 'unsupported') {
      capabilities.blockReceipts = false;
      return null;
    }
    if (isTooLarge(reading, outcome.error)) return allInParts(reading);
    throw outcome.error;
  }
  capabilities.blockReceipts = true;
  try {
    return await complete(reading, outcome.result);
  } catch (error) {
    if (!(error instanceof OtherBlockError)) throw error;
    // At the head, this height may hold another block by now.
    return readByHash(reading, error);
  }
}

async function readByHash(reading: ReceiptsReading, mismatch: OtherBlockError): Promise<readonly Receipt[]> {
  const { upstream, block, given } = reading;
  let list: unknown;
  try {
    list = await upstream.call(BLOCK_RECEIPTS, [block.header.hash], given);
  } catch (error) {
    if (error instanceof UpstreamFault && isTooLarge(reading, error)) return allInParts(reading);
    if (!(error instanceof RpcCallError)) throw error;
    throw upstream.fault('missing-block', BLOCK_RECEIPTS, mismatch.message);
  }
  return complete(reading, list);
}

async function allInParts(reading: ReceiptsReading): Promise<readonly Receipt[]> {
  return fillIn(reading, await readInParts(reading, RECEIPT, reading.block.transactionHashes), []);
}

/** For a block without transactions, `null` means none. */
async function complete(reading: ReceiptsReading, list: unknown): Promise<readonly Receipt[]> {
  const { chain, block } = reading;
  const isEmpty = block.transactionHashes.length === 0;
  if (list === null) return isEmpty ? fillIn(reading, [], []) : readEach(reading, 'null');
  if (!Array.isArray(list)) throw new MalformedAnswerError('The response is not a list of receipts');
  const matched = matchReceipts(block, list, chain);
  if (isEmpty && list.length === 0) return fillIn(reading, [], []);
  if (matched.missing.length === 0) return matched.receipts;
  if (matched.missing.length === block.transactionHashes.length && list.length === 0)
    return readEach(reading, '[]');
  return fillIn(reading, list, matched.missing);
}

/** The first is requested alone: at the head, a node without the list often lacks the block. */
async function readEach(reading: ReceiptsReading, answered: string): Promise<readonly Receipt[]> {
  const { upstream, block, given, earlier } = reading;
  const { capabilities } = upstream.state;
  const isFirst = earlier !== undefined && !earlier.withoutList.has(upstream.name);
  earlier?.withoutList.add(upstream.name);
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

/** Cronos and HyperEVM list transactions that were never executed. */
async function fillIn(
  reading: ReceiptsReading,
  list: readonly unknown[],
  missing: readonly Hash[],
): Promise<readonly Receipt[]> {
  const { chain, upstream, block } = reading;
  const ofTransactions = [...list, ...(missing.length === 0 ? [] : await oneByOne(reading, missing))];
  const own = lacksLogs(reading, ofTransactions) ? await readOwn(reading) : null;
  const matched = matchReceipts(block, [...ofTransactions, own], chain);
  const tolerated = chain.receiptsRoot !== 'ethereum' && matched.receipts.length > 0;
  if (matched.missing.length > 0 && !tolerated)
    throw upstream.fault(
      'missing-block',
      RECEIPT,
      `has no receipt of ${matched.missing[0]} in block ${block.header.number}`,
    );
  return matched.receipts;
}

/** The block's bloom has logs that no receipt has: it may have a separate receipt. */
function lacksLogs({ chain, block }: ReceiptsReading, receipts: readonly unknown[]): boolean {
  const { logsBloom } = block.header;
  if (chain.receiptsRoot !== 'ethereum' || logsBloom === null || isEmptyBloom(logsBloom)) return false;
  const blooms = receipts.map((receipt) => Object(receipt).logsBloom as unknown);
  if (!blooms.every(isBloom)) return false;
  return (BigInt(logsBloom) & ~blooms.reduce((sum, bloom) => sum | BigInt(bloom), 0n)) !== 0n;
}

function isBloom(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{512}$/i.test(value);
}

/** Its transaction hash is the block's. Null: it has none. */
async function readOwn({ upstream, block, given }: ReceiptsReading): Promise<unknown> {
  try {
    return await upstream.call(RECEIPT, [block.header.hash], given);
  } catch (error) {
    if (error instanceof RpcCallError) return null;
    throw error;
  }
}

async function oneByOne(reading: ReceiptsReading, hashes: readonly Hash[]): Promise<unknown[]> {
  const { upstream, given } = reading;
  const calls = hashes.map((hash) => ({ method: RECEIPT, params: [hash] }));
  const bytesMax = Math.min(given.bytesMax ?? BATCH_BYTES_MAX, BATCH_BYTES_MAX);
  const outcomes = await upstream.callMany(calls, { ...given, bytesMax });
  const large: number[] = [];
  const results = outcomes.map((outcome, index) => {
    if (outcome.ok) return outcome.result;
    if (!isAboutSize(outcome.error)) throw outcome.error;
    large.push(index);
    return null;
  });
  const alone = large.flatMap((index) => hashes[index] ?? []);
  for (const [position, result] of (await readInParts(reading, RECEIPT, alone)).entries())
    results[large[position] ?? 0] = result;
  return results;
}
