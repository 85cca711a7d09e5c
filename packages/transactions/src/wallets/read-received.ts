/**
 * Looks for the coins that a wallet received in blocks that nobody searched for it: where its balance changed in a way that what is stored of it doesn't
 * explain, by bisection (`find-balance-changes.ts`), then in those blocks, each read whole and proven, and traced where its transactions don't
 * explain the change either. Coins that came and went between two blocks that were asked about are not found.
 */
import type { ReadSender } from '@chainstead/answers';
import { type BlockRange, subtractRanges } from '@chainstead/core';
import { UpstreamsExhaustedError } from '@chainstead/rpc';
import { type InternalTransaction, readTraces, saveEstimate } from '@chainstead/sync';
import type { ReadBlock } from '../reading/read-block.ts';
import type { FoundBlock } from './block-store.ts';
import { coinChangeIn } from './coin-change.ts';
import { type ExplainedChanges, readExplainedChanges } from './explained-changes.ts';
import { type Change, changeIn, estimateBalances, narrowChanges } from './find-balance-changes.ts';
import {
  CALLS_PER_BLOCK,
  keepBlocks,
  narrowDown,
  type SearchTurn,
  type SpanSteps,
  searchHistory,
  type TurnEnd,
} from './search-history.ts';

/** After so many failures it goes on without traces: a node may be unable to execute a block again. */
const TRACE_ATTEMPTS = 3;

export const readReceiver: ReadSender = (reading, subject, signal) =>
  searchHistory(reading, subject, signal, {
    missingOf: ({ unsearched }) => aboveGenesis(unsearched),
    // There will be newer ones by then: who asks next has them searched.
    awaitsNewest: false,
    run,
  });

/** What accounts have from the beginning was in no transaction. */
function aboveGenesis(ranges: readonly BlockRange[]): readonly BlockRange[] {
  return subtractRanges(ranges, [{ from: 0, to: 0 }]);
}

interface BalanceSearch {
  readonly turn: SearchTurn;
  readonly explained: ExplainedChanges;
  /** Whether any node traces, as far as is known. */
  isTraced: boolean;
}

async function run(turn: SearchTurn, signal: AbortSignal): Promise<TurnEnd> {
  const { node, reading, subject, ranges } = turn;
  const [from, to] = [ranges[0]?.from ?? 0, ranges.at(-1)?.to ?? 0];
  const explained = await readExplainedChanges(reading.database, reading.chain, subject.address, { from, to });
  const search: BalanceSearch = { turn, explained, isTraced: turn.attempts < TRACE_ATTEMPTS };
  const borders = [...new Set(ranges.flatMap((range) => [range.from - 1, range.to]))];
  const at = await unexplainedAt(search, borders);
  const open = ranges.flatMap((range) => changeIn(range, at.get(range.from - 1) ?? 0n, at.get(range.to) ?? 0n));
  turn.open = open;
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
  return { block, calls: rest === 0n ? [] : await callsIn(search, block, signal) };
}

/** Empty where nobody traces: that the balance changed there is then all that is ever known, and the block is not searched again. */
async function callsIn(
  search: BalanceSearch,
  { proven }: ReadBlock,
  signal: AbortSignal,
): Promise<readonly InternalTransaction[]> {
  if (!search.isTraced || proven.block.transactionHashes.length === 0) return [];
  const { reading, node } = search.turn;
  node.count(1);
  try {
    const traced = await readTraces({ chain: reading.chain, pool: reading.pool }, proven, signal);
    if ('calls' in traced) return traced.calls.filter(({ traceAddress }) => traceAddress.length > 0);
  } catch (error) {
    // The state that it takes to execute the block again may be gone where the balances are still known.
    if (!(error instanceof UpstreamsExhaustedError && error.isPruned)) throw error;
  }
  search.isTraced = false;
  return [];
}
