/** Few nodes have such an index. Listed blocks are proven; completeness can't be. */
import { type Address, type BlockRange, isAddress, parseQuantity, toQuantity } from '@chainstead/core';
import { MalformedAnswerError, RequestAbortedError, type UpstreamPool } from '@chainstead/rpc';
import { z } from 'zod';
import { isPlainTransfer } from '../stored/is-plain-transfer.ts';

export interface NamedBlock {
  readonly number: number;
  readonly mayMoveInside: boolean;
}

export interface NamedBlocks {
  readonly searched: BlockRange;
  readonly blocks: readonly NamedBlock[];
}

export type AccountIndexMethod = 'ots_searchTransactionsBefore' | 'trace_filter';
export const ACCOUNT_INDEX_METHODS: readonly AccountIndexMethod[] = [
  'ots_searchTransactionsBefore',
  'trace_filter',
];

/** Milliseconds per attempt: nodes without an index scan blocks. */
const ANSWER_MS = 15_000;
/** Otterscan's maximum per response; it returns whole blocks. */
const OTS_PAGE = 25;
const TRACES_PAGE = 1_000;
const CALLS: Readonly<Record<AccountIndexMethod, number>> = { ots_searchTransactionsBefore: 1, trace_filter: 2 };

/** The pool's errors if no node responds. @throws MalformedAnswerError */
export async function nextNamed(
  pool: UpstreamPool,
  method: AccountIndexMethod,
  { account, range }: { readonly account: Address; readonly range: BlockRange },
  { signal, count }: { readonly signal: AbortSignal; count(calls: number): void },
): Promise<NamedBlocks> {
  count(CALLS[method]);
  const ask = async (params: readonly unknown[]) =>
    (await pool.request(method, params, { signal, timeoutMs: ANSWER_MS })).value;
  if (method === 'ots_searchTransactionsBefore')
    return readPage(await ask([account, range.to + 1, OTS_PAGE]), range);
  const bounds = { fromBlock: toQuantity(range.from), toBlock: toQuantity(range.to), count: TRACES_PAGE };
  const filters = [{ fromAddress: [account] }, { toAddress: [account] }];
  const answers = await Promise.all(filters.map((filter) => ask([{ ...bounds, ...filter }])));
  return readTraced(answers, range);
}

export function isNotOffered(error: unknown): boolean {
  return !(error instanceof RequestAbortedError);
}

type Json = Readonly<Record<string, unknown>>;
const quantity = z.string().regex(/^0x[\da-f]+$/i);
const plainPartsSchema = z.object({
  from: z.string(),
  to: z.string().nullable(),
  value: quantity,
  input: z.string(),
  gasUsed: quantity,
});

function readPage(answer: unknown, range: BlockRange): NamedBlocks {
  const { txs, receipts, lastPage } = Object(answer) as Json;
  if (!Array.isArray(txs) || !Array.isArray(receipts) || typeof lastPage !== 'boolean')
    throw new MalformedAnswerError('The response is not a page of transactions');
  const places = txs.map((listed: unknown, index): NamedBlock => {
    const transaction = Object(listed) as Json;
    const { gasUsed } = Object(receipts[index]) as Json;
    const parts = plainPartsSchema.safeParse({ ...transaction, gasUsed });
    const isPlain = parts.success && isPlainTransfer(parts.data);
    return { number: heightOf(transaction.blockNumber), mayMoveInside: !isPlain };
  });
  const lowest = Math.min(...places.map(({ number }) => number));
  if (places.some(({ number }) => number > range.to))
    throw new MalformedAnswerError('A page has newer transactions than requested');
  const isLast = lastPage || places.length === 0 || lowest < range.from;
  const searched = isLast ? range : { from: lowest, to: range.to };
  return { searched, blocks: together(places, searched).reverse() };
}

/** Oldest first. Ends where the shorter of two truncated responses does. */
function readTraced(answers: readonly unknown[], range: BlockRange): NamedBlocks {
  const pages = answers.map((answer) => readTraces(answer, range));
  const searched = { from: range.from, to: Math.min(...pages.map(({ end }) => end)) };
  const blocks = pages.flatMap((page) => page.blocks);
  return { searched, blocks: together(blocks, searched) };
}

/** `end`: last block with all traces, also one that fills a page alone. */
function readTraces(answer: unknown, range: BlockRange) {
  if (!Array.isArray(answer)) throw new MalformedAnswerError('The response is not a list of traces');
  const traces = answer.map((trace: unknown) => {
    const { blockNumber, transactionHash, traceAddress, action } = Object(trace) as Json;
    const isInside = Array.isArray(traceAddress) && traceAddress.length > 0;
    const number = heightOf(blockNumber);
    // Rewards belong to no transaction.
    const isReward = transactionHash === null || transactionHash === undefined;
    return { number, isReward, mayMoveInside: isInside && movesCoins(Object(action) as Json) };
  });
  const blocks = traces.filter(({ isReward }) => !isReward);
  if (traces.length < TRACES_PAGE) return { blocks, end: range.to };
  const last = traces.reduce((highest, { number }) => Math.max(highest, number), range.from);
  // The last block may have more traces, so the next page starts with it.
  if (last > range.from) return { blocks, end: Math.min(last - 1, range.to) };
  return { blocks: blocks.map(({ number }) => ({ number, mayMoveInside: true })), end: last };
}

/** A contract that self-destructs sends its balance, although its trace has no value. */
function movesCoins({ value, refundAddress }: Json): boolean {
  return isAddress(refundAddress) || (value !== undefined && value !== null && Number(value) > 0);
}

function heightOf(value: unknown): number {
  const height = typeof value === 'number' ? value : parseQuantity(value);
  if (!Number.isSafeInteger(height) || height < 0) throw new MalformedAnswerError('A block has no height');
  return height;
}

function together(named: readonly NamedBlock[], { from, to }: BlockRange): NamedBlock[] {
  const blocks = new Map<number, boolean>();
  for (const { number, mayMoveInside } of named)
    if (from <= number && number <= to) blocks.set(number, mayMoveInside || blocks.get(number) === true);
  return Array.from(blocks, ([number, mayMoveInside]) => ({ number, mayMoveInside })).toSorted(
    (left, right) => left.number - right.number,
  );
}
