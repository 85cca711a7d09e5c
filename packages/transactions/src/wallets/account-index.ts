/**
 * Which blocks a node's own index names an account in: as sender, as receiver, as a contract that was created, and in calls inside. Few nodes have one
 * (`ots_searchTransactionsBefore` of Erigon's Otterscan module; `trace_filter`, where it takes ranges of any length). What it names is read and proven; what
 * it leaves out nothing proves.
 */
import { type Address, type BlockRange, isAddress, parseQuantity, toQuantity } from '@chainstead/core';
import { MalformedAnswerError, RequestAbortedError, type UpstreamPool } from '@chainstead/rpc';

/** A block in which an account takes part in a transaction. */
export interface NamedBlock {
  readonly number: number;
  /** Whether coins may have moved inside its transactions to the account or from it. */
  readonly mayMoveInside: boolean;
}

/** What an index has of a part of a range that begins or ends with it. */
export interface NamedBlocks {
  readonly searched: BlockRange;
  /** From the end of the range on that was searched: ascending or descending. */
  readonly blocks: readonly NamedBlock[];
}

export type AccountIndexMethod = 'ots_searchTransactionsBefore' | 'trace_filter';
export const ACCOUNT_INDEX_METHODS: readonly AccountIndexMethod[] = ['ots_searchTransactionsBefore', 'trace_filter'];

/** One attempt: an index answers at once, and a node without one that goes through its blocks instead does not. Milliseconds. */
const ANSWER_MS = 15_000;
/** Transactions of an answer of Otterscan's, which allows no more; it gives whole blocks. */
const OTS_PAGE = 25;
/** Traces of an answer. */
const TRACES_PAGE = 1_000;
/** Calls of a step. */
const CALLS: Readonly<Record<AccountIndexMethod, number>> = { ots_searchTransactionsBefore: 1, trace_filter: 2 };
/** What a transfer of coins to an account without code takes. */
const TRANSFER_GAS = 21_000;

/**
 * Asks for what an index has, a page of it, until the range is searched.
 * @param count told of each call
 * @throws whatever the pool does where no node answers; MalformedAnswerError for what is no answer
 */
export async function nextNamed(
  pool: UpstreamPool,
  method: AccountIndexMethod,
  { account, range }: { readonly account: Address; readonly range: BlockRange },
  { signal, count }: { readonly signal: AbortSignal; count(calls: number): void },
): Promise<NamedBlocks> {
  count(CALLS[method]);
  const ask = async (params: readonly unknown[]) =>
    (await pool.request(method, params, { signal, timeoutMs: ANSWER_MS })).value;
  if (method === 'ots_searchTransactionsBefore') return readPage(await ask([account, range.to + 1, OTS_PAGE]), range);
  const bounds = { fromBlock: toQuantity(range.from), toBlock: toQuantity(range.to), count: TRACES_PAGE };
  const filters = [{ fromAddress: [account] }, { toAddress: [account] }];
  const answers = await Promise.all(filters.map((filter) => ask([{ ...bounds, ...filter }])));
  return readTraced(answers, range);
}

/** Whether an error says that no node has the index, rather than that the work is to end. */
export function isNotOffered(error: unknown): boolean {
  return !(error instanceof RequestAbortedError);
}

type Json = Readonly<Record<string, unknown>>;

/** Newest first. */
function readPage(answer: unknown, range: BlockRange): NamedBlocks {
  const { txs, receipts, lastPage } = Object(answer) as Json;
  if (!Array.isArray(txs) || !Array.isArray(receipts) || typeof lastPage !== 'boolean')
    throw new MalformedAnswerError('The answer is not a page of transactions');
  const places = txs.map((one: unknown, place): NamedBlock => {
    const { blockNumber, input } = Object(one) as Json;
    const { gasUsed } = Object(receipts[place]) as Json;
    const isPlain = input === '0x' && Number(gasUsed) === TRANSFER_GAS;
    return { number: heightOf(blockNumber), mayMoveInside: !isPlain };
  });
  const lowest = Math.min(...places.map(({ number }) => number));
  if (places.some(({ number }) => number > range.to))
    throw new MalformedAnswerError('A page of transactions has newer ones than were asked for');
  const isLast = lastPage || places.length === 0 || lowest < range.from;
  const searched = isLast ? range : { from: lowest, to: range.to };
  return { searched, blocks: together(places, searched).reverse() };
}

/** Oldest first, as both answers go: what is searched ends where the shorter of two that are cut off does. */
function readTraced(answers: readonly unknown[], range: BlockRange): NamedBlocks {
  const pages = answers.map((answer) => readTraces(answer, range));
  const searched = { from: range.from, to: Math.min(...pages.map(({ end }) => end)) };
  return {
    searched,
    blocks: together(
      pages.flatMap(({ blocks }) => blocks),
      searched,
    ),
  };
}

/** @returns `end`: the last block of which all traces are there, and those of one that fills a page by itself */
function readTraces(
  answer: unknown,
  range: BlockRange,
): { readonly blocks: readonly NamedBlock[]; readonly end: number } {
  if (!Array.isArray(answer)) throw new MalformedAnswerError('The answer is not a list of traces');
  const traces = answer.map((one: unknown) => {
    const { blockNumber, transactionHash, traceAddress, action } = Object(one) as Json;
    const isInside = Array.isArray(traceAddress) && traceAddress.length > 0;
    const number = heightOf(blockNumber);
    // Rewards belong to no transaction.
    const isReward = transactionHash === null || transactionHash === undefined;
    return { number, isReward, mayMoveInside: isInside && movesCoins(Object(action) as Json) };
  });
  const blocks = traces.filter(({ isReward }) => !isReward);
  if (traces.length < TRACES_PAGE) return { blocks, end: range.to };
  const last = traces.reduce((highest, { number }) => Math.max(highest, number), range.from);
  // Of the last block more may be left, which the next page begins with.
  if (last > range.from) return { blocks, end: Math.min(last - 1, range.to) };
  return { blocks: blocks.map(({ number }) => ({ number, mayMoveInside: true })), end: last };
}

/** A contract that ends gives what it has to somebody, and has no value of its own. */
function movesCoins({ value, refundAddress }: Json): boolean {
  return isAddress(refundAddress) || (value !== undefined && value !== null && Number(value) > 0);
}

/** Nodes write heights as quantities, or in traces as numbers. */
function heightOf(value: unknown): number {
  const height = typeof value === 'number' ? value : parseQuantity(value);
  if (!Number.isSafeInteger(height) || height < 0) throw new MalformedAnswerError('A block has no height');
  return height;
}

/** Each block once, ascending, of those that were searched. */
function together(named: readonly NamedBlock[], { from, to }: BlockRange): NamedBlock[] {
  const blocks = new Map<number, boolean>();
  for (const { number, mayMoveInside } of named)
    if (from <= number && number <= to) blocks.set(number, mayMoveInside || blocks.get(number) === true);
  return [...blocks]
    .map(([number, mayMoveInside]) => ({ number, mayMoveInside }))
    .toSorted((one, other) => one.number - other.number);
}
