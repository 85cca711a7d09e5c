/** Receipts spent between two samples are not found. */

import { type BlockRange, mergeRanges, subtractRanges } from '@chainstead/core';
import type { ReadSender } from '@chainstead/pages/on-demand';
import { saveEstimate } from '@chainstead/sync/requests';
import type { BlockWithCalls } from './block-store.ts';
import { coinChangeIn } from './coin-change.ts';
import { type ExplainedChanges, readExplainedChanges } from './explained-changes.ts';
import { type BalanceChange, changeIn, estimateBalances, narrowChanges } from './find-balance-changes.ts';
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
    // There will be newer ones by then: the next request queues their search.
    awaitsNewest: false,
    async run(turn, ending) {
      const named = await readNamed(turn, ending);
      return named === 'calls' || named === 'time' ? named : searchBalances(turn, ending, named === 'done');
    },
    // Its receipts there were found together with its sent transactions.
    runNewest: null,
  });

/** Genesis balances have no transaction. */
function aboveGenesis(ranges: readonly BlockRange[]): readonly BlockRange[] {
  return subtractRanges(ranges, [{ from: 0, to: 0 }]);
}

interface BalanceSearch {
  readonly turn: SearchTurn;
  readonly explained: ExplainedChanges;
  readonly calls: CallsReader;
}

/** Not stored as searched: once the blocks are final, an index may list more. */
export function receiveNewest(turn: SearchTurn, signal: AbortSignal): Promise<TurnEnd> {
  return searchBalances({ ...turn, ranges: aboveGenesis(turn.ranges), isRecorded: false, open: null }, signal);
}

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
  const steps: SpanSteps<BalanceChange> = {
    narrow: async (left, blocks) => narrowChanges(left, await unexplainedAt(search, blocks)),
    keep: async (left, chosen) => {
      const kept = { spans: left, chosen, read: (change: BalanceChange) => readFound(search, change, signal) };
      return (await keepBlocks(turn, kept)).left;
    },
  };
  return narrowDown(turn, open, steps, signal);
}

/** Complete: an index listed the blocks, and stored rows explain all changes. */
async function recordNamed(
  { reading: { database }, subject, ranges }: SearchTurn,
  open: readonly BalanceChange[],
) {
  const doubted = open.map(({ after, until }) => ({ from: after + 1, to: until }));
  const before = await readMarked(database, subject, 'doubted');
  await database.transaction(async (transaction) => {
    await recordMarked(transaction, subject, 'doubted', doubted);
    const known = subtractRanges(ranges, [...before, ...doubted]);
    // The first block contains only genesis balances.
    const whole = known.map(({ from, to }) => ({ from: from === 1 ? 0 : from, to }));
    await recordWhole(transaction, subject, mergeRanges(whole));
  });
}

async function unexplainedAt({ turn: { node }, explained }: BalanceSearch, blocks: readonly number[]) {
  const balances = await node.balancesAt(blocks);
  return new Map(blocks.map((block, index) => [block, (balances[index] ?? 0n) - explained.until(block)]));
}

async function readFound(
  search: BalanceSearch,
  change: BalanceChange,
  signal: AbortSignal,
): Promise<BlockWithCalls> {
  const { turn, explained } = search;
  const { reading, subject, store } = turn;
  const block = await store.read(change.until, signal);
  const whole = { ...block, internalTransactions: [] };
  const byTransactions =
    coinChangeIn(whole, subject.address, reading.chain) - explained.byTransactionsOf(change.until);
  const rest = change.now - change.before - byTransactions;
  return { block, calls: rest === 0n ? [] : await search.calls.read(block, signal) };
}
