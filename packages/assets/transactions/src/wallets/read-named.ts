/** Before any bisection: counts and balances then show whether anything is missing. */
import { type Address, type BlockRange, errorText, parseHash, subtractRanges } from '@chainstead/core';
import { addressBytes, type Database, sql, type Transaction } from '@chainstead/db';
import { UpstreamsExhaustedError } from '@chainstead/rpc';
import { readTraces, recordSubjectRange } from '@chainstead/sync';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import type { InternalTransaction, Subject } from '@chainstead/sync/datasets';
import { recordProgress } from '@chainstead/sync/requests';
import { pad } from 'viem/utils';
import { APPROVED_OTHERWISE } from '../approvals/read-approvals.ts';
import type { ReadBlock } from '../reading/read-block.ts';
import { accountTransactions } from '../stored/datasets.ts';
import {
  ACCOUNT_INDEX_METHODS,
  type AccountIndexMethod,
  isNotOffered,
  type NamedBlock,
  type NamedBlocks,
  nextNamed,
} from './account-index.ts';
import { CALLS_PER_BLOCK, endOfTurn, readRisky, type SearchTurn, type TurnEnd } from './search-history.ts';

const BLOCKS_AT_ONCE = 4;
/** Milliseconds until nodes without an index are tried again. */
const ASK_AGAIN_MS = 3_600_000;
const readAgainAt = new WeakMap<object, Map<AccountIndexMethod, number>>();

/** `none`: no node has an index of the rest. */
type NamedEnd = TurnEnd | 'none';

export async function readNamed(turn: SearchTurn, signal: AbortSignal): Promise<NamedEnd> {
  const { reading, subject, ranges } = turn;
  let left = subtractRanges(ranges, await readMarked(reading.database, subject, 'named'));
  for (let range = left.at(-1); range !== undefined; range = left.at(-1)) {
    signal.throwIfAborted();
    const end = endOfTurn(turn);
    if (end !== null) return end;
    const named = await fetchIndexes(turn, range, signal);
    if (named === null) return 'none';
    const approving = await blocksApproving(turn, named.searched, signal);
    const read = await readPage(turn, range, withBlocks(named, range, approving), signal);
    if (read.end !== null) return read.end;
    left = subtractRanges(left, [named.searched]);
  }
  return 'done';
}

async function fetchIndexes(
  { reading: { pool, clock, logger, chain }, subject, node }: SearchTurn,
  range: BlockRange,
  signal: AbortSignal,
): Promise<NamedBlocks | null> {
  const again = readAgainAt.get(pool) ?? new Map<AccountIndexMethod, number>();
  readAgainAt.set(pool, again);
  for (const method of ACCOUNT_INDEX_METHODS) {
    if ((again.get(method) ?? 0) > clock.now()) continue;
    try {
      return await nextNamed(pool, method, { account: subject.address, range }, { signal, count: node.count });
    } catch (error) {
      if (signal.aborted || !isNotOffered(error)) throw error;
      again.set(method, clock.now() + ASK_AGAIN_MS);
      logger.debug({ chain: chain.key, method, error: errorText(error) }, 'No node has an index of accounts');
    }
  }
  return null;
}

/** By others' transactions, which need no call that contains the wallet. */
async function blocksApproving(
  { reading: { pool }, subject, node }: SearchTurn,
  range: BlockRange,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const indexed = [[parseHash(pad(subject.address))]];
  const { logs, calls } = await pool.getLogs({ range, topics: APPROVED_OTHERWISE, indexed }, { signal });
  node.count(calls);
  return logs.map(({ blockNumber }) => blockNumber);
}

function withBlocks(page: NamedBlocks, range: BlockRange, more: readonly number[]): NamedBlocks {
  const named = new Set(page.blocks.map(({ number }) => number));
  const added = [...new Set(more)].filter((number) => !named.has(number));
  const sign = isDescending(page, range) ? -1 : 1;
  const blocks = [...page.blocks, ...added.map((number) => ({ number, mayMoveInside: false }))];
  return { ...page, blocks: blocks.toSorted((left, right) => sign * (left.number - right.number)) };
}

function isDescending({ searched }: NamedBlocks, range: BlockRange): boolean {
  return searched.to === range.to && searched.from !== range.from;
}

async function readPage(turn: SearchTurn, range: BlockRange, page: NamedBlocks, signal: AbortSignal) {
  const { reading, subject, node, store } = turn;
  const calls = createCallsReader(turn);
  const { searched, blocks } = page;
  const fromAbove = isDescending(page, range);
  for (let first = 0; first < blocks.length; first += BLOCKS_AT_ONCE) {
    signal.throwIfAborted();
    const end = endOfTurn(turn);
    if (end !== null) return { end };
    const chosen = blocks.slice(first, first + BLOCKS_AT_ONCE);
    node.count(chosen.length * CALLS_PER_BLOCK);
    const read = async ({ number, mayMoveInside }: NamedBlock) => {
      const block = await store.read(number, signal);
      return { block, calls: mayMoveInside ? await calls.read(block, signal) : [] };
    };
    for (const found of await readRisky(turn, () => Promise.all(chosen.map(read)))) {
      const { number } = found.block.header;
      const done = fromAbove ? { from: number, to: range.to } : { from: range.from, to: number };
      await store.save(found, node.newCalls(), (transaction) =>
        recordMarked(transaction, subject, 'named', [done]),
      );
    }
  }
  await reading.database.transaction(async (transaction) => {
    await recordProgress(transaction, subject, { calls: node.newCalls(), rows: 0 });
    await recordMarked(transaction, subject, 'named', [searched]);
  });
  return { end: null };
}

/** `named`: all blocks of the index were read. `doubted`: counts or balances show it incomplete. */
type IndexMark = 'named' | 'doubted';

export async function readMarked(
  database: Pick<Database, 'query'>,
  { chainId, address }: { readonly chainId: number; readonly address: Address },
  mark: IndexMark,
): Promise<readonly BlockRange[]> {
  return database.query<{ from: number; to: number }>(
    sql`SELECT first_block AS from, last_block AS to FROM subject_ranges
      WHERE chain_id = ${chainId} AND kind = ANY (${[`sender-${mark}`, `receiver-${mark}`]}::text[]) AND subject = ${addressBytes(address)} AND dataset = ${accountTransactions.name}`,
  );
}

export async function recordMarked(
  transaction: Transaction,
  { chainId, kind, address }: Subject,
  mark: IndexMark,
  ranges: readonly BlockRange[],
): Promise<void> {
  const subject = { chainId, kind: `${kind}-${mark}`, address } as const;
  for (const range of ranges) await recordSubjectRange(transaction, subject, accountTransactions.name, range);
}

export async function recordWhole(
  transaction: Transaction,
  { chainId, address }: Subject,
  ranges: readonly BlockRange[],
): Promise<void> {
  // The follower writes under this lock.
  await lockChainCommits(transaction, { id: chainId });
  for (const range of ranges)
    await recordSubjectRange(transaction, { chainId, kind: 'wallet', address }, accountTransactions.name, range);
}

export interface CallsReader {
  read(block: ReadBlock, signal: AbortSignal): Promise<readonly InternalTransaction[]>;
}

/** After these failures it continues without traces: nodes may be unable to execute a block. */
const TRACE_ATTEMPTS = 3;

/** Makes no more calls once no node traces. */
export function createCallsReader({ reading: { chain, pool }, node, attempts }: SearchTurn): CallsReader {
  let isTraced = attempts < TRACE_ATTEMPTS;
  return {
    async read({ proven }, signal) {
      if (!isTraced || proven.block.transactionHashes.length === 0) return [];
      node.count(1);
      try {
        const traced = await readTraces({ chain, pool }, proven, signal);
        if ('calls' in traced) return traced.calls.filter(({ traceAddress }) => traceAddress.length > 0);
      } catch (error) {
        // The state to execute a block may be pruned while balances are known.
        if (!(error instanceof UpstreamsExhaustedError && error.isPruned)) throw error;
      }
      isTraced = false;
      return [];
    },
  };
}
