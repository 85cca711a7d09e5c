/**
 * Looks for the coins that a wallet received in blocks that nobody searched for it: where its balance changed in a way that what is stored of it doesn't
 * explain, by bisection (`find-balance-changes.ts`), then in those blocks, each read whole and proven, and traced where its transactions don't
 * explain the change either. Coins that came and went between two blocks that were asked about are not found so. Where a node has an index of accounts, its
 * blocks are read first (`read-named.ts`): balances then show whether that was all.
 */
import type { ReadSender } from '@chainstead/answers';
import { type BlockRange, mergeRanges, subtractRanges } from '@chainstead/core';
import { saveEstimate } from '@chainstead/sync';
import type { FoundBlock } from './block-store.ts';
import { coinChangeIn } from './coin-change.ts';
import { type ExplainedChanges, readExplainedChanges } from './explained-changes.ts';
import { type Change, changeIn, estimateBalances, narrowChanges } from './find-balance-changes.ts';
import { readMarked, recordMarked, recordWhole } from './named-ranges.ts';
import { type CallsReader, createCallsReader } from './read-calls.ts';
import { readNamed } from './read-named.ts';
import {
  CALLS_PER_BLOCK,
  keepBlocks,
  narrowDown,
  type SearchTurn,
  type SpanSteps,
  searchHistory,
  type TurnEnd,
} from './search-history.ts';

export const readReceiver: ReadSender = (reading, subject, signal) =>
  searchHistory(reading, subject, signal, {
    missingOf: ({ unsearched }) => aboveGenesis(unsearched),
    // There will be newer ones by then: who asks next has them searched.
    awaitsNewest: false,
    run,
    // What it received there was found together with what it sent.
    runNewest: null,
  });

/** What accounts have from the beginning was in no transaction. */
function aboveGenesis(ranges: readonly BlockRange[]): readonly BlockRange[] {
  return subtractRanges(ranges, [{ from: 0, to: 0 }]);
}

interface BalanceSearch {
  readonly turn: SearchTurn;
  readonly explained: ExplainedChanges;
  readonly calls: CallsReader;
}

async function run(turn: SearchTurn, signal: AbortSignal): Promise<TurnEnd> {
  const named = await readNamed(turn, signal);
  if (named === 'calls' || named === 'time') return named;
  return searchBalances(turn, signal, named === 'done');
}

/**
 * Searches the newest blocks, of which all is known that the wallet sent. Nothing is recorded of them as searched: once they are final, an index of accounts
 * may tell more.
 */
export function receiveNewest(turn: SearchTurn, signal: AbortSignal): Promise<TurnEnd> {
  return searchBalances({ ...turn, ranges: aboveGenesis(turn.ranges), isRecorded: false, open: null }, signal);
}

/** @param isNamed whether an index has named the wallet's blocks */
async function searchBalances(turn: SearchTurn, signal: AbortSignal, isNamed = false): Promise<TurnEnd> {
  const { node, reading, subject, ranges } = turn;
  const [from, to] = [ranges[0]?.from ?? 0, ranges.at(-1)?.to ?? 0];
  const explained = await readExplainedChanges(reading.database, reading.chain, subject.address, { from, to });
  const search: BalanceSearch = { turn, explained, calls: createCallsReader(turn) };
  const borders = [...new Set(ranges.flatMap((range) => [range.from - 1, range.to]))];
  const at = await unexplainedAt(search, borders);
  const open = ranges.flatMap((range) => changeIn(range, at.get(range.from - 1) ?? 0n, at.get(range.to) ?? 0n));
  turn.open = open;
  if (isNamed) await recordNamed(turn, open);
  const expected = estimateBalances(open) + CALLS_PER_BLOCK * open.length;
  await saveEstimate(reading.database, subject, node.callsMade() + expected);
  const steps: SpanSteps<Change> = {
    narrow: async (left, blocks) => narrowChanges(left, await unexplainedAt(search, blocks)),
    keep: async (left, chosen) => {
      const kept = { spans: left, chosen, read: (change: Change) => readFound(search, change, signal) };
      return (await keepBlocks(turn, kept)).left;
    },
  };
  return narrowDown(turn, open, steps, signal);
}

/** All is known where an index has named the wallet's blocks, and what is stored of them is all that its count and its balance changed by. */
async function recordNamed(
  { reading: { database }, subject, ranges }: SearchTurn,
  open: readonly Change[],
): Promise<void> {
  const doubted = open.map(({ after, until }) => ({ from: after + 1, to: until }));
  const before = await readMarked(database, subject, 'doubted');
  await database.transaction(async (transaction) => {
    await recordMarked(transaction, subject, 'doubted', doubted);
    const known = subtractRanges(ranges, [...before, ...doubted]);
    // Nothing is in the first block but what accounts have from the beginning.
    await recordWhole(
      transaction,
      subject,
      mergeRanges(known.map(({ from, to }) => ({ from: from === 1 ? 0 : from, to }))),
    );
  });
}

/** What an account has at some blocks, less all that is known to have come and gone by then. */
async function unexplainedAt(
  { turn: { node }, explained }: BalanceSearch,
  blocks: readonly number[],
): Promise<ReadonlyMap<number, bigint>> {
  const balances = await node.balancesAt(blocks);
  return new Map(blocks.map((block, place) => [block, (balances[place] ?? 0n) - explained.until(block)]));
}

/** The block of a change, with the calls inside where its transactions and withdrawals are not all of it. */
async function readFound(search: BalanceSearch, change: Change, signal: AbortSignal): Promise<FoundBlock> {
  const { turn, explained } = search;
  const { reading, subject, store } = turn;
  const block = await store.read(change.until, signal);
  const whole = { ...block, internalTransactions: [] };
  const byTransactions = coinChangeIn(whole, subject.address, reading.chain) - explained.byTransactionsOf(change.until);
  const rest = change.now - change.before - byTransactions;
  return { block, calls: rest === 0n ? [] : await search.calls.read(block, signal) };
}
